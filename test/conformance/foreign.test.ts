/** The embedded engine once more, with operations called as in a document that isn't ours; the Cluster has them too. */
process.env['CONFORMANCE_NAMES'] = 'foreign';
await import('./embedded.test.js');

export {};
