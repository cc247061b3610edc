import t from 'tap';
import { renderToString } from '#jsx/render';
import {
  CheckFields,
  PostForm,
  SelectField,
  sentWith,
  TextField,
} from '../../../../src/gateway/pages/components/form.js';
import { Notice, Problems } from '../../../../src/gateway/pages/components/notice.js';
import { addressOf, Pager } from '../../../../src/gateway/pages/components/pager.js';
import { BarPlot } from '../../../../src/gateway/pages/components/plot.js';
import { Form } from '../../../../src/gateway/pages/form.js';
import { Table } from '../../../../src/gateway/pages/components/table.js';

const EVIL = `"><script>alert('1')</script>&`;

function sentBack(field: string, entered: string, ...problems: readonly string[]) {
  return sentWith(field, new Form(new Map([[field, [entered]]])), problems);
}

t.test('whatever people wrote stays text, in every component', (t) => {
  const choices = [{ value: EVIL, label: EVIL }];
  const html = renderToString(
    <>
      <Table caption={EVIL} empty={EVIL} rows={[EVIL]} columns={[{ head: EVIL, cell: (row) => row, foot: EVIL }]} />
      <Notice>{EVIL}</Notice>
      <Problems problems={[EVIL]} />
      <PostForm action={EVIL} guard={{ formToken: EVIL, submission: EVIL }} button={EVIL}>
        <TextField name={EVIL} label={EVIL} value={EVIL} hint={EVIL} sent={sentBack(EVIL, EVIL, `${EVIL}: ${EVIL}`)} />
        <SelectField name={EVIL} label={EVIL} choices={choices} value={EVIL} />
        <CheckFields name={EVIL} label={EVIL} choices={choices} sent={sentBack(EVIL, EVIL)} />
      </PostForm>
      <Pager path="/x" query={{ name: EVIL }} cursor={EVIL} next={EVIL} />
      <BarPlot label={EVIL} axis={EVIL} pale={EVIL} bars={[{ label: EVIL, parts: new Map([[EVIL, 1]]), pale: true }]} />
    </>,
  );
  t.notMatch(html, /<script|alert\('1'\)<\/script/);
  t.ok(html.split('&lt;script>').length > 30, 'it is there, as text');
  t.notMatch(html, /="[^"]*"[^\s/>]/, 'no attribute was left');
  t.end();
});

t.test('a field shows what was entered with its own problem, and says so to a screen reader', (t) => {
  const sent = sentBack('plan', 'gold', 'plan: there is no plan "gold"', 'x: y');
  const html = renderToString(<TextField name="plan" label="Plan" value="free" hint="A name" sent={sent} />);
  t.match(html, 'value="gold"');
  t.match(html, 'aria-invalid="true" aria-describedby="field-plan-help"');
  t.match(html, '<p class="problem">there is no plan &quot;gold&quot;</p><p class="hint">A name</p>');
  t.notMatch(renderToString(<TextField name="plan" label="Plan" />), 'aria-');
  t.end();
});

t.test('a list leads to its next page and back to its first, as it was asked', (t) => {
  t.equal(renderToString(<Pager path="/x" query={{}} cursor={undefined} next={null} />), '');
  t.match(
    renderToString(<Pager path="/x" query={{ plan: 'free', name: undefined }} cursor="a" next="b" />),
    'href="/x?plan=free">First page</a><a href="/x?plan=free&amp;cursor=b"',
  );
  t.equal(addressOf('/x', { a: '', b: 'é&' }), '/x?b=%C3%A9%26');
  t.end();
});

t.test('a plot has every figure in a table beside it', (t) => {
  const bars = [
    { label: '1 Nov', parts: new Map([['free', 12_345]]) },
    {
      label: '2 Nov',
      parts: new Map([
        ['free', 1],
        ['pro', 2],
      ]),
      pale: true,
    },
  ];
  const html = renderToString(<BarPlot label="Requests" axis="Day" pale="not final" bars={bars} />);
  t.match(html, '<title>1 Nov: 12,345</title>');
  t.match(html, '<title>2 Nov: 3 (free 1, pro 2)</title>');
  t.match(html, /2 Nov \(not final\)<\/th><td [^>]*data-label="free">1<\/td><td [^>]*data-label="pro">2<\/td>/);
  t.match(html, '<text class="tick" x="56" y="16" text-anchor="end">20k</text>');
  t.match(renderToString(<BarPlot label="None" axis="Day" bars={[]} />), 'Nothing.');
  t.end();
});

t.test('a limit is a line across the bars, and only in the legend where it is far above them', (t) => {
  const drawn = (figure: number): string => {
    const bars = [{ label: '1 Nov', parts: new Map([['units', 100]]) }];
    return renderToString(<BarPlot label="Units" axis="Day" bars={bars} limit={{ label: 'limit a day', figure }} />);
  };
  t.match(drawn(400), /<line class="limit" [^>]* y1="12" y2="12">/);
  t.match(drawn(400), 'limit a day 400</li>');
  t.notMatch(drawn(401), '<line class="limit"');
  t.match(drawn(401), 'limit a day 401</li>');
  t.end();
});

t.test('a class of status has one color, whatever stands beside it', (t) => {
  for (const classes of [['5xx'], ['2xx', '5xx'], ['2xx', '3xx', '4xx', '5xx']]) {
    const bars = [{ label: '1 Nov', parts: new Map(classes.map((name) => [name, 1])) }];
    const html = renderToString(<BarPlot label="Requests" axis="Day" bars={bars} />);
    for (const name of classes)
      t.match(html, new RegExp(`<span class="swatch s${name.charAt(0)}"></span>${name}`), name);
    t.equal(html.match(/<rect class="s\d"/g)?.length, classes.length);
  }
  t.end();
});

t.test('a line breaks where there is no figure, which is neither drawn nor written as 0', (t) => {
  const bars = [[1], [2], [], [4]].map((figures, n) => ({
    label: `${n}`,
    parts: new Map(figures.map((figure) => ['p99', figure] as const)),
  }));
  const html = renderToString(<BarPlot lines label="Latency" axis="Minute" bars={bars} />);
  const [, path = ''] = /<path class="line c0" d="([^"]*)"/.exec(html) ?? [];
  t.match(path, /^M[\d.]+ [\d.]+h\.01L[\d.]+ [\d.]+h\.01M[\d.]+ 12h\.01$/, 'two points, a gap, and the highest');
  t.match(html, '<th scope="row">2</th><td class="number" data-label="p99">–</td>');
  t.equal(html.match(/<rect class="c0"/g), null, 'no bars');
  t.end();
});
