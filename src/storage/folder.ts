import { mkdirSync, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true
}

function make(path: string): void {
  try {
    mkdirSync(path)
  } catch (error) {
    // Another process may have been first.
    if (!isFolder(path)) throw error
  }
}

/**
 * Makes a folder with all that is missing above it. Node's own recursive mkdir never returns where the
 * system answers "no such file" for a new entry of a folder that is there, as `/proc` does.
 * @throws the system's error (ENOENT, EACCES, EEXIST, ENOTDIR, …) when it cannot be made
 */
export function makeFolder(folder: string): void {
  const missing: string[] = []
  for (let path = resolve(folder); !isFolder(path); path = dirname(path)) {
    missing.unshift(path)
    if (dirname(path) === path) break
  }
  for (const path of missing) make(path)
}
