import { figure, graph, type Row } from './panels.js';
import { quantile, rate } from './queries.js';

// Malformed requests are the clients' failure, and 501 says only that nothing stands behind an operation yet.
const JUDGED = '{operation!="malformed"}';
const failed = (window: string): string =>
  `(sum (rate(petgate_requests_total{class="5xx",operation!="malformed"}${window})) - sum ` +
  `(rate(petgate_refusals_total{code="not_implemented"}${window})))`;

/** For whoever is called at night: rate, errors, duration, then how full everything is. */
export const frontDoor: readonly Row[] = [
  {
    title: 'Requests',
    panels: [
      figure(
        { title: 'Requests', unit: 'reqps', description: 'All requests answered per second, whatever the answer.' },
        { requests: rate('petgate_requests_total') },
      ),
      figure(
        {
          title: 'Availability',
          unit: 'percentunit',
          description:
            'Share of requests over the time shown that did not end in a 5xx. The objective is 99.9 %; ' +
            'PetgateAvailabilityFastBurn and PetgateAvailabilitySlowBurn watch it.',
        },
        { available: `1 - ${failed('[$__range]')} / sum (rate(petgate_requests_total${JUDGED}[$__range]))` },
      ),
      figure(
        {
          title: 'p99',
          unit: 's',
          description: '99 of 100 requests were answered within this, the upstream included.',
        },
        { p99: quantile(0.99, 'petgate_request_duration_seconds') },
      ),
      figure(
        {
          title: 'Store',
          unit: 'short',
          description:
            '1 when every gateway can decide admissions; 0 when one cannot, and answers 503 store_unavailable.',
        },
        { up: 'min(petgate_store_up)' },
      ),
      graph(
        {
          title: 'Requests by operation',
          unit: 'reqps',
          stacked: true,
          description:
            'Operations as the contract names them. unmatched: no such path or method; malformed: not readable ' +
            'as HTTP.',
        },
        { '{{operation}}': rate('petgate_requests_total', 'operation') },
      ),
      graph(
        {
          title: 'Answers by class',
          unit: 'reqps',
          stacked: true,
          description: '4xx is what clients get wrong or have used up, 5xx is what we get wrong.',
        },
        { '{{class}}': rate('petgate_requests_total', 'class') },
      ),
      graph(
        {
          title: '5xx by operation',
          unit: 'reqps',
          description: 'Which operation fails. Refusals by code tells why, unless the upstream sent the 5xx itself.',
        },
        { '{{operation}}': rate('petgate_requests_total{class="5xx"}', 'operation') },
      ),
      graph(
        {
          title: 'Refusals by code',
          unit: 'reqps',
          description: 'Refusals of the gateway by code; docs/reference/errors.md says what each means and what to do.',
        },
        { '{{code}}': `${rate('petgate_refusals_total', 'code')} > 0` },
      ),
      graph(
        {
          title: 'Duration by operation, p99',
          unit: 's',
          description:
            'From reading a request to writing its response. Compare with the upstream below to see who is slow.',
        },
        { '{{operation}}': quantile(0.99, 'petgate_request_duration_seconds', 'operation') },
      ),
      graph(
        {
          title: 'Where the time goes, p99',
          unit: 's',
          description: 'The whole exchange, the admission in it and the upstream in it.',
        },
        {
          whole: quantile(0.99, 'petgate_request_duration_seconds'),
          admission: quantile(0.99, 'petgate_admission_duration_seconds'),
          upstream: quantile(0.99, 'petgate_upstream_duration_seconds'),
        },
      ),
    ],
  },
  {
    title: 'Saturation',
    panels: [
      graph(
        {
          title: 'Exchanges in flight',
          unit: 'short',
          description:
            'Requests being worked on, per gateway, beside limits.exchanges, above which they are refused as ' +
            'overloaded.',
        },
        { '{{instance}}': 'petgate_exchanges_in_flight', '{{instance}} limit': 'petgate_exchanges_limit' },
      ),
      graph(
        {
          title: 'Exchanges that wait',
          unit: 'short',
          description:
            'Requests that wait for their client, for its body or until it takes the answer, per gateway, ' +
            'beside limits.waiting, above which further ones are refused as overloaded, or cut.',
        },
        { '{{instance}}': 'petgate_exchanges_waiting', '{{instance}} limit': 'petgate_exchanges_waiting_limit' },
      ),
      graph(
        {
          title: 'Client connections',
          unit: 'short',
          description: 'Open connections per gateway beside limits.connections, above which further ones are dropped.',
        },
        { '{{instance}}': 'petgate_connections', '{{instance}} limit': 'petgate_connections_limit' },
      ),
      graph(
        {
          title: 'WebSocket tunnels',
          unit: 'short',
          description:
            'Tunnels per gateway, handshakes under way included, beside limits.tunnels, above which further ' +
            'ones are refused as overloaded.',
        },
        { '{{instance}}': 'petgate_tunnels', '{{instance}} limit': 'petgate_tunnels_limit' },
      ),
      graph(
        {
          title: 'Turned away for lack of room',
          unit: 'reqps',
          description:
            'Requests refused as overloaded, and connections dropped. Anything above 0 needs more workers or ' +
            'gateways, or a faster upstream.',
        },
        {
          overloaded: rate('petgate_refusals_total{code="overloaded"}'),
          'connections dropped': rate('petgate_connections_dropped_total'),
        },
      ),
      graph(
        {
          title: 'Event loop busy',
          unit: 'short',
          description:
            'Event loops kept fully busy, summed over the processes of a gateway: a gateway with two workers is ' +
            'full at 2.',
        },
        { '{{instance}}': rate('petgate_event_loop_busy_seconds_total', 'instance') },
      ),
      graph(
        {
          title: 'Event loop delay',
          unit: 's',
          description: 'How late timers fire. Above 50 ms every request of that process waits.',
        },
        {
          p50: quantile(0.5, 'petgate_event_loop_delay_seconds'),
          p99: quantile(0.99, 'petgate_event_loop_delay_seconds'),
        },
      ),
      graph(
        { title: 'CPU', unit: 'short', description: 'CPUs taken by each gateway (all its processes) and by pets.' },
        {
          '{{instance}}': rate('petgate_process_cpu_seconds_total', 'instance'),
          'pets {{instance}}': rate('petgate_pets_process_cpu_seconds_total', 'instance'),
        },
      ),
      graph(
        {
          title: 'Memory',
          unit: 'bytes',
          description: 'Resident memory of each gateway (all its processes) and of pets.',
        },
        {
          '{{instance}}': 'petgate_process_resident_memory_bytes',
          'pets {{instance}}': 'petgate_pets_process_resident_memory_bytes',
        },
      ),
      graph(
        {
          title: 'Workers',
          unit: 'short',
          description:
            'Worker processes by state, and how many died in the last quarter of an hour. Empty with ' +
            'PETGATE_WORKERS=1, where one process does all.',
        },
        {
          '{{state}}': 'sum by (state) (petgate_workers)',
          'restarts, 15 min': 'sum (increase(petgate_worker_restarts_total[15m]))',
        },
      ),
      graph(
        {
          title: 'Settings loaded',
          unit: 's',
          description: 'How long ago each gateway loaded the settings it runs on.',
        },
        { '{{instance}}': 'time() - petgate_config_loaded_timestamp_seconds' },
      ),
      graph(
        {
          title: 'Settings accepted',
          unit: 'short',
          max: 1,
          description:
            '0 while the files hold settings, or a certificate, that were refused; those before stay in force. ' +
            'petgate config check says what is wrong.',
        },
        { '{{instance}}': 'petgate_config_ok' },
      ),
      graph(
        {
          title: 'Certificate ends in',
          unit: 'd',
          description:
            'Days until the certificate that new connections get ends, by gateway. PetgateCertificateEndsSoon ' +
            'speaks below 21. Empty without TLS.',
        },
        { '{{instance}}': '(petgate_tls_certificate_not_after_seconds - time()) / 86400' },
      ),
      graph(
        {
          title: 'TLS handshakes that failed',
          unit: 'reqps',
          stacked: true,
          description:
            'Connections that never became TLS. distrusted: the client does not accept our certificate; left: ' +
            'mostly balancers and scanners that only look whether the port is open. Empty without TLS.',
        },
        { '{{reason}}': rate('petgate_tls_handshake_failures_total', 'reason') },
      ),
      graph(
        {
          title: 'Versions',
          unit: 'short',
          description: 'Gateways by version, Node and environment: more than one line while a release rolls out.',
        },
        { '{{version}} on {{node}}, {{environment}}': 'count by (version, node, environment) (petgate_info)' },
      ),
    ],
  },
  {
    title: 'Upstreams',
    panels: [
      graph(
        {
          title: 'Up',
          unit: 'percentunit',
          max: 1,
          description:
            "Share of an upstream's addresses that the last attempt could reach, that are not passed over " +
            'because requests to them fail, and that want requests where they are asked.',
        },
        { '{{upstream}} from {{instance}}': 'petgate_upstream_up_ratio' },
      ),
      graph(
        { title: 'Addresses', unit: 'short', description: 'Addresses of an upstream; those that a name resolves to.' },
        { '{{upstream}} from {{instance}}': 'petgate_upstream_addresses' },
      ),
      graph(
        {
          title: '5xx',
          unit: 'reqps',
          description: "Requests sent to an upstream that ended in a 5xx, its own or the gateway's.",
        },
        { '{{upstream}}': rate('petgate_upstream_errors_total', 'upstream') },
      ),
      graph(
        {
          title: 'Failures by kind',
          unit: 'reqps',
          description:
            'unreachable: no connection; tls: no TLS; lost: broken before an answer; bad_answer: none a client may ' +
            'see; timeout: none in time; full: no room in its queue; open: not sent, as every address was passed over.',
        },
        { '{{upstream}} {{kind}}': rate('petgate_upstream_failures_total', 'upstream, kind') },
      ),
      graph(
        {
          title: 'Passed over',
          unit: 'percentunit',
          max: 1,
          description:
            "Share of an upstream's addresses that get a trial request from time to time and no other, because " +
            'requests to them failed, and how often that began within a minute.',
        },
        {
          '{{upstream}} from {{instance}}': 'petgate_upstream_open_ratio',
          '{{upstream}} began per minute': 'sum by (upstream) (increase(petgate_upstream_breaker_opened_total[1m]))',
        },
      ),
      graph(
        { title: 'Duration', unit: 's', description: 'From dispatch to the last byte of the answer, by upstream.' },
        {
          '{{upstream}} p50': quantile(0.5, 'petgate_upstream_duration_seconds', 'upstream'),
          '{{upstream}} p99': quantile(0.99, 'petgate_upstream_duration_seconds', 'upstream'),
        },
      ),
      graph(
        {
          title: 'Pool',
          unit: 'short',
          description:
            'Requests handed to each upstream, those of them that wait for a connection, and connections open.',
        },
        {
          '{{upstream}} in flight': 'sum by (upstream) (petgate_upstream_in_flight)',
          '{{upstream}} queued': 'sum by (upstream) (petgate_upstream_queued)',
          '{{upstream}} connections': 'sum by (upstream) (petgate_upstream_connections)',
        },
      ),
      graph(
        {
          title: 'pets: requests',
          unit: 'reqps',
          stacked: true,
          description: 'What pets itself answered, by operation and status.',
        },
        { '{{operation}} {{status}}': rate('petgate_pets_requests_total{operation!="health"}', 'operation, status') },
      ),
      graph(
        {
          title: 'pets: duration, p99',
          unit: 's',
          description: 'As pets measures it: what the gateway sees more than this is network and queue.',
        },
        { '{{operation}}': quantile(0.99, 'petgate_pets_request_duration_seconds', 'operation') },
      ),
      graph(
        { title: 'pets: store', unit: 'short', max: 1, description: '1 while pets can read its catalogue.' },
        { '{{instance}}': 'petgate_pets_store_up' },
      ),
      graph(
        {
          title: 'pets: event loop',
          unit: 's',
          description: 'How late timers of pets fire, and how busy its event loop is (1 is full).',
        },
        {
          'delay p99': quantile(0.99, 'petgate_pets_event_loop_delay_seconds'),
          busy: rate('petgate_pets_event_loop_busy_seconds_total'),
        },
      ),
    ],
  },
];
