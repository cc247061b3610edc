import { figure, graph, type Row } from './panels.js';
import { quantile, rate, total } from './queries.js';

/** How much each plan uses. To look at: what an invoice is made of is the ledger, `petgate usage`. */
export const usageAndBilling: readonly Row[] = [
  {
    title: 'Usage',
    panels: [
      figure(
        {
          title: 'Admitted',
          unit: 'short',
          description:
            'Requests charged to a key over the time shown. Invoices come from the ledger: a metric forgets ' +
            'when a gateway is replaced.',
        },
        { admitted: total('petgate_admitted_total') },
      ),
      figure(
        {
          title: 'Refused by limits',
          unit: 'short',
          description:
            'Requests of keys over the time shown that an empty bucket or a ban refused, and that nobody pays for.',
        },
        {
          refused:
            `${total('petgate_limited_total{plan!="anonymous"}')} + ` +
            total('petgate_banned_total{plan!="anonymous"}'),
        },
      ),
      figure(
        {
          title: 'Unmatched',
          unit: 'percentunit',
          description:
            'Share of admitted requests that asked for no operation of the contract. They are charged, and ' +
            'billing can tell them apart.',
        },
        { unmatched: `${total('petgate_admitted_total{operation="unmatched"}')} / ${total('petgate_admitted_total')}` },
      ),
      figure(
        {
          title: 'Failed',
          unit: 'short',
          description:
            'Requests over the time shown that ended in a 5xx. Those of them that were charged stand as failed ' +
            'in the ledger, for a failure report.',
        },
        { failed: total('petgate_requests_total{class="5xx",operation!="malformed"}') },
      ),
      graph(
        {
          title: 'Admitted by plan',
          unit: 'reqps',
          stacked: true,
          description: 'Requests charged to a key, per second, by its plan at that moment.',
        },
        { '{{plan}}': rate('petgate_admitted_total', 'plan') },
      ),
      graph(
        {
          title: 'Admitted by operation',
          unit: 'reqps',
          stacked: true,
          description: 'What the requests charged were for. unmatched: no such path or method.',
        },
        { '{{operation}}': rate('petgate_admitted_total', 'operation') },
      ),
      graph(
        {
          title: 'Units by plan',
          unit: 'short',
          stacked: true,
          description:
            'What the requests charged took of the limits, per second: each counts what its operation costs.',
        },
        { '{{plan}}': rate('petgate_admitted_units_total', 'plan') },
      ),
      graph(
        {
          title: 'Admitted per hour by plan',
          unit: 'short',
          stacked: true,
          description: "The hour before each point: comparable with a plan's quota per day.",
        },
        { '{{plan}}': 'sum by (plan) (increase(petgate_admitted_total[1h]))' },
      ),
      graph(
        {
          title: 'Refused by plan',
          unit: 'reqps',
          stacked: true,
          description: 'Requests of keys that a bucket or a ban refused: who wants more than the plan gives.',
        },
        {
          '{{plan}} limited': rate('petgate_limited_total{plan!="anonymous"}', 'plan'),
          '{{plan}} banned': rate('petgate_banned_total{plan!="anonymous"}', 'plan'),
        },
      ),
    ],
  },
  {
    title: 'Day quota',
    panels: [
      graph(
        {
          title: 'Day used at admission',
          unit: 'percentunit',
          max: 1,
          description:
            "Share of the key's day limit used, at the middle and the ninth of ten admissions of each plan. " +
            'Rises over the UTC day and falls at midnight.',
        },
        {
          '{{plan}} p50': quantile(0.5, 'petgate_day_quota_used_ratio', 'plan'),
          '{{plan}} p90': quantile(0.9, 'petgate_day_quota_used_ratio', 'plan'),
        },
      ),
      graph(
        {
          title: 'Admissions with over 80 % of the day used',
          unit: 'reqps',
          description: 'By plan: who is about to ask for more. Which key it is says petgate usage.',
        },
        { '{{plan}}': rate('petgate_near_limit_total{window="day"}', 'plan') },
      ),
      graph(
        {
          title: 'Business and Enterprise near the end of their day',
          unit: 'short',
          description:
            'Admissions of the last quarter of an hour that found over 80 % of the day used. ' +
            'PetgateDayQuotaNearlyGone fires on it.',
        },
        {
          '{{plan}}':
            'sum by (plan) (increase(petgate_near_limit_total{window="day",plan=~"business|enterprise"}[15m]))',
        },
      ),
      graph(
        {
          title: 'Refused until midnight',
          unit: 'reqps',
          description: 'Requests of keys whose day is used up, by plan.',
        },
        { '{{plan}}': rate('petgate_limited_total{window="day",plan!="anonymous"}', 'plan') },
      ),
    ],
  },
  {
    title: 'Events',
    panels: [
      graph(
        {
          title: 'Events that wait',
          unit: 'short',
          description:
            'Of the whole store: waiting for delivery to a webhook, and dead, which nobody tries any more: ' +
            'petgate events list --state dead.',
        },
        { '{{state}}': 'max by (state) (petgate_events)' },
      ),
      graph(
        {
          title: 'Attempts to deliver',
          unit: 'short',
          stacked: true,
          description: 'Per second, by outcome. What failed is tried again, for about three days.',
        },
        { '{{outcome}}': rate('petgate_event_attempts_total', 'outcome') },
      ),
    ],
  },
];
