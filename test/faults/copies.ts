import { join } from 'node:path';
import { open } from 'lmdb';
import { cachedKeyRow } from '../../src/gateway/store/outage/cached.js';
import type { Gateway } from '../servers/gateway.js';
import { until } from '../servers/until.js';

/** Waits until the gateway has copies of these keys: it can serve them while Redis is unavailable. */
export async function learnt({ dataFolder }: Gateway, keyIds: readonly string[]): Promise<void> {
  const store = open<Buffer, string>(join(dataFolder, 'failover/durable.mdb'), {
    encoding: 'binary',
    readOnly: true,
    maxReaders: 1024,
  });
  try {
    for (const keyId of keyIds) {
      await until(`key ${keyId} is copied`, () => {
        store.resetReadTxn();
        return store.getBinary(cachedKeyRow(keyId)) !== undefined;
      });
    }
  } finally {
    await store.close();
  }
}
