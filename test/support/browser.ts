import { type Browser, chromium, type Page } from 'playwright-core'

/** Debian's chromium without its own network traffic, which a closed network would refuse noisily. */
const ARGUMENTS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]

/** Starts a real browser; the tests need one, so a missing one is a failure and never a skip. */
export function openBrowser(): Promise<Browser> {
  return chromium.launch({ executablePath: '/usr/bin/chromium', headless: true, args: ARGUMENTS })
}

/** Collects everything that a person would find red in the console of a page. */
export function faultsOf(page: Page): readonly string[] {
  const faults: string[] = []
  page.on('console', (message) => {
    if (message.type() === 'error') faults.push(message.text())
  })
  page.on('pageerror', (error) => faults.push(error.message))
  return faults
}
