/** Both engines once more, with operations called as in a document that isn't ours. */
process.env['CONFORMANCE_NAMES'] = 'foreign';
// At once: the file ends when no test is left to run.
await Promise.all([import('./embedded.test.js'), import('./redis.test.js')]);

export {};
