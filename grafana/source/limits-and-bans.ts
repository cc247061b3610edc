import { figure, graph, type Row } from './panels.js';
import { mean, quantile, rate, total } from './queries.js';

/** Who runs into limits, who is locked out, and whether admission itself is well. */
export const limitsAndBans: readonly Row[] = [
  {
    title: 'Limits',
    panels: [
      figure(
        {
          title: 'Limited',
          unit: 'percentunit',
          description: 'Share of all requests over the time shown that an empty bucket refused.',
        },
        { limited: `${total('petgate_limited_total')} / ${total('petgate_requests_total')}` },
      ),
      figure(
        {
          title: 'Limited by the day',
          unit: 'short',
          description: 'Requests of keys refused because the day was used up: such a client waits until midnight UTC.',
        },
        { limited: total('petgate_limited_total{window="day",plan!="anonymous"}') },
      ),
      figure(
        {
          title: 'Bans started',
          unit: 'short',
          description: 'Bans that refusals started over the time shown, addresses included.',
        },
        { bans: total('petgate_bans_started_total') },
      ),
      figure(
        {
          title: 'Without a valid key',
          unit: 'percentunit',
          description: 'Share of all requests over the time shown that showed no key or a bad one.',
        },
        {
          share:
            `${total('petgate_refusals_total{code=~"missing_api_key|invalid_api_key|address_banned"}')} / ` +
            total('petgate_requests_total'),
        },
      ),
      graph(
        {
          title: '429 by plan and window',
          unit: 'reqps',
          stacked: true,
          description: 'Requests an empty bucket refused, by the window that fills last.',
        },
        { '{{plan}} {{window}}': rate('petgate_limited_total', 'plan, window') },
      ),
      graph(
        {
          title: 'Near the limit',
          unit: 'reqps',
          description:
            'Admissions that left less than 20 % of a window. Much of it and few 429: clients that pace ' +
            'themselves well, or that soon need a bigger plan.',
        },
        { '{{plan}} {{window}}': rate('petgate_near_limit_total', 'plan, window') },
      ),
      graph(
        {
          title: 'Day used, p90',
          unit: 'percentunit',
          max: 1,
          description: "Nine of ten admissions of a plan found less than this share of the key's day used.",
        },
        { '{{plan}}': quantile(0.9, 'petgate_day_quota_used_ratio', 'plan') },
      ),
      graph(
        {
          title: '401',
          unit: 'reqps',
          description:
            'No key, or none that is good. A flood of it is somebody guessing, or a client that lost its key.',
        },
        {
          '{{code}}': rate('petgate_refusals_total{code=~"missing_api_key|invalid_api_key"}', 'code'),
          'addresses limited': rate('petgate_limited_total{plan="anonymous"}'),
        },
      ),
    ],
  },
  {
    title: 'Bans',
    panels: [
      graph(
        {
          title: 'Bans started by plan',
          unit: 'short',
          stacked: true,
          description: 'Bans that refusals started in each quarter of an hour, by plan.',
        },
        { '{{plan}}': 'sum by (plan) (increase(petgate_bans_started_total[15m]))' },
      ),
      graph(
        {
          title: 'Bans in force',
          unit: 'short',
          description: 'Keys and addresses that are locked out at this moment.',
        },
        { '{{subject}}': 'max by (subject) (petgate_bans_active)' },
      ),
      graph(
        {
          title: 'Requests during a ban',
          unit: 'reqps',
          stacked: true,
          description: 'What the banned go on sending. It costs them nothing more and does not make the ban longer.',
        },
        { '{{plan}}': rate('petgate_banned_total', 'plan') },
      ),
    ],
  },
  {
    title: 'Admission',
    panels: [
      graph(
        {
          title: 'Admission latency',
          unit: 's',
          description: 'From asking the store to its verdict, by engine. Every request waits for it.',
        },
        {
          '{{engine}} p50': quantile(0.5, 'petgate_admission_duration_seconds', 'engine'),
          '{{engine}} p99': quantile(0.99, 'petgate_admission_duration_seconds', 'engine'),
        },
      ),
      graph(
        {
          title: 'Batch size',
          unit: 'short',
          description:
            'Requests decided by one store call. It grows with load and makes each request cheaper for the store.',
        },
        { mean: mean('petgate_admission_batch_requests'), p99: quantile(0.99, 'petgate_admission_batch_requests') },
      ),
      graph(
        {
          title: 'Store',
          unit: 'short',
          max: 1,
          description:
            '1 while a gateway can decide, by Redis or without it. At 0 it refuses everything it would have to charge.',
        },
        { '{{instance}} {{engine}}': 'petgate_store_up' },
      ),
      graph(
        {
          title: 'Decided without Redis',
          unit: 'short',
          max: 1,
          description:
            '1 while a gateway decides by itself, from its share of each limit, because Redis is unavailable.',
        },
        { '{{instance}}': 'petgate_store_degraded' },
      ),
      graph(
        {
          title: 'Not in the ledger yet',
          unit: 'short',
          description:
            'Requests admitted while Redis was unavailable that stand in the data folder of a gateway alone. ' +
            'They go into the ledger when Redis is back.',
        },
        { '{{instance}}': 'petgate_spool_requests' },
      ),
      graph(
        {
          title: 'Gateways that share',
          unit: 'short',
          description:
            'How many gateways a limit would be divided by if Redis went away now, or is divided by while it is ' +
            'unavailable.',
        },
        { '{{instance}}': 'petgate_failover_gateways' },
      ),
      graph(
        {
          title: 'Refused for lack of the store',
          unit: 'reqps',
          description: 'Requests answered 503 store_unavailable.',
        },
        { refused: rate('petgate_refusals_total{code="store_unavailable"}') },
      ),
    ],
  },
];
