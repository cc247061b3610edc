import type { ChildProcess } from 'node:child_process';
import type { Issued } from '../../servers/certificate.js';
import type { RedisServer } from '../../servers/redis.js';

/** What is compared, in the order of the tables. */
export const SUBJECTS = [
  'bare',
  'embedded',
  'embedded+log',
  'redis',
  'redis+log',
  'embedded+github',
  'redis+github',
  'embedded+holds',
  'redis+holds',
  'nginx',
  'fastify',
  'express',
] as const;
export type SubjectName = (typeof SUBJECTS)[number];

/** What Redis uses while one of the others is measured is not theirs. */
export const usesRedis = (name: SubjectName): boolean => name !== 'bare' && !name.startsWith('embedded');

/** What a subject gets to work with. */
export interface Place {
  /** Of its own. */
  readonly folder: string;
  /** Of the build of Petgate. */
  readonly root: string;
  /** What is behind it, and the file with who signed its certificate; undefined: it is plain. */
  readonly upstream: { readonly port: number; readonly url: string; readonly ca: string | undefined };
  readonly redis: RedisServer;
  /** It is to speak TLS, and HTTP/2 where it can. */
  readonly tls: Issued | undefined;
}

/** A gateway in a process of its own (or a process with children). It ends with this one. */
export interface Started {
  readonly child: ChildProcess;
  readonly port: number;
}
