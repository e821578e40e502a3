export * from './gate/index.ts'
