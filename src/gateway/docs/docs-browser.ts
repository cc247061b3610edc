/**
 * The script of the page, served as compiled: Swagger UI for the contract. Swagger UI itself shows JSON as JavaScript
 * parses it, which rounds integers above 2^53; here every number is shown as it was sent.
 */
type Element = object;
type Component = (props: ResponseProps) => Element;
interface ResponseProps {
  readonly content: unknown;
  readonly contentType?: string;
  readonly getComponent: (name: string, isContainer: boolean) => Component;
}
interface System {
  readonly React: { createElement(type: Component | string, props: object | null, ...children: unknown[]): Element };
}
interface Page {
  readonly SwaggerUIBundle: (options: object) => void;
  readonly matchMedia: (query: string) => EventTarget & { readonly matches: boolean };
  readonly document: {
    documentElement: { classList: { toggle(name: string, isOn: boolean): void } };
    querySelector(selector: '#swagger-ui'): { readonly dataset: { readonly document: string } };
  };
}

/** Matches each scalar in a JSON text, at any depth: a string, a number, true, false or null. */
const SCALAR = /"(?:\\.|[^"\\])*"|[^\s"{}[\]:,]+/g;

/** Returns the JSON indented, with each scalar as it was written; undefined if `text` is not JSON. */
export function indented(text: string): string | undefined {
  try {
    JSON.parse(text);
  } catch {
    return undefined;
  }
  const quoted = text.replace(SCALAR, (scalar) => JSON.stringify(scalar));
  return JSON.stringify(JSON.parse(quoted), null, 2).replace(SCALAR, (scalar) => JSON.parse(scalar) as string);
}

/** Shows response bodies as received. Swagger UI's own component would parse them. */
const exactAnswers = () => ({
  wrapComponents: {
    responseBody:
      (Original: Component, { React }: System): Component =>
      (props) => {
        const { content, contentType = '', getComponent } = props;
        const text = typeof content === 'string' && /json/i.test(contentType) ? indented(content) : undefined;
        if (text === undefined) return React.createElement(Original, props);
        const shown = { language: 'json', downloadable: true, fileName: 'response.json', canCopy: true };
        return React.createElement(
          'div',
          null,
          React.createElement('h5', null, 'Response body'),
          React.createElement(getComponent('HighlightCode', true), shown, text),
        );
      },
  },
});

function show({ SwaggerUIBundle, matchMedia, document }: Page): void {
  const dark = matchMedia('(prefers-color-scheme: dark)');
  const follow = (): void => document.documentElement.classList.toggle('dark-mode', dark.matches);
  dark.addEventListener('change', follow);
  follow();
  SwaggerUIBundle({
    url: document.querySelector('#swagger-ui').dataset.document,
    dom_id: '#swagger-ui',
    deepLinking: true,
    persistAuthorization: false,
    defaultModelsExpandDepth: 0,
    validatorUrl: null,
    syntaxHighlight: { theme: 'tomorrow-night' },
    plugins: [exactAnswers],
  });
}

// Tests load this file in Node.
if ('SwaggerUIBundle' in globalThis) show(globalThis as unknown as Page);
