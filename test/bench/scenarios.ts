import type { Figure } from './figures.js';
import { SUBJECTS, type SubjectName } from './subjects/subject.js';
import { answerOf, LIST, type Traffic } from './traffic.js';

/** One subject under one traffic. */
export interface Case {
  readonly subject: SubjectName;
  /** What differs within the scenario: subjects are compared where it is the same. */
  readonly variant: string;
  readonly traffic: Traffic;
}

/** What the median of the pairwise ratios is to be at most. */
export interface Bar {
  readonly of: string;
  readonly to: string;
  readonly figure: Figure;
  readonly most: number;
}

export interface Scenario {
  readonly name: string;
  readonly title: string;
  readonly cases: readonly Case[];
  readonly bars: readonly Bar[];
  readonly tls?: boolean;
  /** The upstream speaks TLS. */
  readonly upstreamTls?: boolean;
  /** Requests come at half of what this subject can do at most, and times are taken. */
  readonly halfThePeakOf?: SubjectName;
  /** Only with `--all` or when named. */
  readonly extra?: boolean;
}

export const nameOf = ({ subject, variant }: Pick<Case, 'subject' | 'variant'>): string =>
  variant === '' ? subject : `${subject}, ${variant}`;

const cross = (subjects: readonly SubjectName[], traffics: Readonly<Record<string, Traffic>>): readonly Case[] =>
  Object.entries(traffics).flatMap(([variant, traffic]) => subjects.map((subject) => ({ subject, variant, traffic })));

const PLAIN = SUBJECTS.filter((name) => !name.includes('+'));
const ENGINES = ['embedded', 'redis'] as const;
const HOLDS = ['embedded+holds', 'redis+holds'] as const;
const GITHUB = ['embedded+github', 'redis+github'] as const;
const bar = (of: string, figure: Figure, to: string, most: number): Bar => ({ of, figure, to, most });

const AGAINST_PEERS: readonly Bar[] = [
  bar('embedded', 'gateway', 'bare', 1),
  bar('redis', 'gateway', 'bare', 1),
  bar('embedded', 'gateway + store', 'nginx', 0.7),
  bar('redis', 'gateway + store', 'nginx', 0.85),
  ...ENGINES.map((engine) => bar(engine, 'gateway + store', 'fastify', 0.4)),
  ...ENGINES.map((engine) => bar(engine, 'gateway + store', 'express', 0.25)),
];

const REFUSALS = {
  admitted: LIST,
  401: { ...LIST, keys: 'unknown', status: 401 },
  429: { ...LIST, keys: 'tight', status: 429 },
} as const;
const BANNED: Traffic = { ...LIST, keys: 'banned', status: 429 };

export const SCENARIOS: readonly Scenario[] = [
  {
    name: 'list',
    title: 'GET of the list, 64 connections, 100 keys',
    cases: cross(
      SUBJECTS.filter((name) => ![...GITHUB, ...HOLDS].some((each) => each === name)),
      { '': LIST },
    ),
    bars: [...AGAINST_PEERS, ...ENGINES.map((engine) => bar(`${engine}+log`, 'gateway', 'bare', 1.05))],
  },
  {
    name: 'post',
    title: 'POST of 1 KiB',
    cases: cross(PLAIN, { '': { ...LIST, method: 'POST', target: '/v1/pets', bodyBytes: 1024 } }),
    bars: AGAINST_PEERS,
  },
  {
    name: 'refusals',
    title: 'Refusals beside an admitted request',
    cases: [...cross([...ENGINES, 'nginx'], REFUSALS), ...cross(ENGINES, { banned: BANNED })],
    bars: ENGINES.flatMap((engine) =>
      ['401', '429', 'banned'].map((refusal) =>
        bar(`${engine}, ${refusal}`, 'gateway + store', `${engine}, admitted`, 0.6),
      ),
    ),
  },
  {
    name: 'sizes',
    title: 'Large answers',
    cases: cross(PLAIN, { '64 KiB': answerOf(65_536, 64), '1 MiB': answerOf(1_048_576, 16) }),
    bars: ENGINES.map((engine) => bar(`${engine}, 1 MiB`, 'gateway', 'bare, 1 MiB', 1.2)),
  },
  {
    name: 'keys',
    title: 'Few keys and many',
    cases: cross([...ENGINES, 'nginx'], {
      '10 keys': { ...LIST, keyCount: 10 },
      '100,000 keys': { ...LIST, keyCount: 100_000 },
    }),
    bars: ENGINES.map((engine) => bar(`${engine}, 100,000 keys`, 'gateway + store', `${engine}, 10 keys`, 1.05)),
  },
  {
    name: 'holds',
    title: 'Costs that the response says, and a limit of requests in flight, beside fixed costs',
    cases: cross(HOLDS, {
      fixed: { ...LIST, target: '/fixed?as=header' },
      header: { ...LIST, target: '/header?as=header' },
      'in flight': { ...LIST, target: '/fixed?as=header', keys: 'counted' },
      'fixed, JSON': { ...LIST, target: '/fixed?as=json' },
      JSON: { ...LIST, target: '/json?as=json' },
      'fixed, stream': { ...LIST, target: '/fixed?as=stream' },
      stream: { ...LIST, target: '/json?as=stream' },
    }),
    bars: HOLDS.flatMap((subject) =>
      ['header / fixed', 'in flight / fixed', 'JSON / fixed, JSON', 'stream / fixed, stream'].map((pair) => {
        const [of, to] = pair.split(' / ') as [string, string];
        return bar(`${subject}, ${of}`, 'gateway', `${subject}, ${to}`, 1.15);
      }),
    ),
  },
  {
    name: 'latency',
    title: 'Latency at half of the peak of nginx + Lua',
    cases: cross(['bare', ...ENGINES, 'nginx'], { '': LIST }),
    halfThePeakOf: 'nginx',
    bars: ENGINES.map((engine) => bar(engine, 'p99', 'nginx', 1.25)),
  },
  {
    name: 'connections',
    title: '1, 8, 64 and 512 connections',
    extra: true,
    bars: [],
    cases: cross(
      ['bare', ...ENGINES, 'nginx'],
      Object.fromEntries(
        [1, 8, 64, 512].map((connections) => [`${connections} connections`, { ...LIST, connections }]),
      ),
    ),
  },
  { name: 'tls', title: 'HTTP/1.1 over TLS', extra: true, tls: true, cases: cross(PLAIN, { '': LIST }), bars: [] },
  {
    name: 'https',
    title: 'An upstream over https',
    extra: true,
    upstreamTls: true,
    cases: cross(['bare', ...ENGINES], { '': LIST }),
    bars: ENGINES.map((engine) => bar(engine, 'gateway', 'bare', 1.15)),
  },
  {
    name: 'github',
    title: "GitHub's contract, of 1,223 operations, beside the animal store's",
    extra: true,
    cases: [
      ...cross(ENGINES, { list: LIST, one: { ...LIST, target: '/v1/pets/7' } }),
      ...cross(GITHUB, {
        list: { ...LIST, target: '/issues?limit=20' },
        one: { ...LIST, target: '/repos/octocat/hello-world/issues/7' },
      }),
    ],
    bars: ENGINES.flatMap((engine) =>
      ['list', 'one'].map((variant) => bar(`${engine}+github, ${variant}`, 'gateway', `${engine}, ${variant}`, 1.05)),
    ),
  },
  {
    name: 'http2',
    title: 'HTTP/2 over TLS, 8 connections of 8 streams',
    extra: true,
    tls: true,
    bars: [],
    // express has no HTTP/2.
    cases: cross(
      PLAIN.filter((name) => name !== 'express'),
      { '': { ...LIST, protocol: 'h2', keyCount: 1 } },
    ),
  },
];
