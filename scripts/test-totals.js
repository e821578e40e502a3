// Reads the JSON report of a test run, prints its totals, and fails when a test was skipped or none ran.
import { readFileSync } from 'node:fs'

const report = JSON.parse(readFileSync(process.argv[2], 'utf8'))
const skipped = report.numPendingTests + report.numTodoTests
console.log(`${report.numPassedTests} passed, ${report.numFailedTests} failed, ${skipped} skipped`)
if (skipped > 0 || report.numFailedTests > 0 || report.numPassedTests === 0) process.exitCode = 1
