import { mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { makeFolder } from '../../src/storage/folder.ts'

let root = ''
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'hivegate-folder-'))
})
afterEach(() => rmSync(root, { recursive: true, force: true }))

describe('the data folder', () => {
  it('is made with everything that is missing above it, and may be there already', () => {
    const deep = join(root, 'a', 'b', 'c')
    makeFolder(deep)
    makeFolder(deep)
    makeFolder('/')
    expect(statSync(deep).isDirectory()).toBe(true)
  })

  it.runIf(process.platform === 'linux')('is refused at once where no folder can be', () => {
    expect(() => makeFolder('/proc/no/such')).toThrow(/ENOENT/)
  })

  it('is refused where a file stands, or a link that leads nowhere', () => {
    writeFileSync(join(root, 'file'), '')
    symlinkSync(join(root, 'nowhere'), join(root, 'link'))
    expect(() => makeFolder(join(root, 'file'))).toThrow(/EEXIST/)
    expect(() => makeFolder(join(root, 'file', 'below'))).toThrow(/ENOTDIR|EEXIST/)
    expect(() => makeFolder(join(root, 'link'))).toThrow(/EEXIST/)
  })
})
