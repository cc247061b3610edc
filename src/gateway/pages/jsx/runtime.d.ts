/**
 * The elements that pages may contain, with the attribute names of HTML. Preact renders them and escapes all text and
 * attributes; its own types would add a browser's globals to every file. What the pages' Content-Security-Policy
 * forbids (an inline script or style, a handler in an attribute) does not compile.
 */
export type Child = JSX.Element | string | number | false | null | undefined | readonly Child[];

interface Common {
  readonly id?: string | undefined;
  readonly class?: string | undefined;
  readonly role?: string | undefined;
  readonly hidden?: boolean | undefined;
  readonly tabindex?: number | undefined;
  readonly children?: Child;
  readonly [aria: `aria-${string}` | `data-${string}`]: string | number | boolean | undefined;
}

interface Input extends Common {
  readonly name?: string | undefined;
  readonly value?: string | number | undefined;
  readonly required?: boolean | undefined;
  readonly autocomplete?: string | undefined;
  readonly autofocus?: boolean | undefined;
  readonly placeholder?: string | undefined;
  readonly maxlength?: number | undefined;
}

type Plain =
  | 'bdi'
  | 'body'
  | 'caption'
  | 'code'
  | 'dd'
  | 'div'
  | 'dl'
  | 'dt'
  | 'em'
  | 'fieldset'
  | 'figcaption'
  | 'figure'
  | 'h1'
  | 'h2'
  | 'h3'
  | 'head'
  | 'header'
  | 'legend'
  | 'li'
  | 'main'
  | 'nav'
  | 'ol'
  | 'p'
  | 'pre'
  | 'section'
  | 'span'
  | 'strong'
  | 'summary'
  | 'table'
  | 'tbody'
  | 'td'
  | 'tfoot'
  | 'thead'
  | 'tr'
  | 'ul';

interface Shape extends Common {
  readonly x?: number;
  readonly y?: number;
  readonly x1?: number;
  readonly x2?: number;
  readonly y1?: number;
  readonly y2?: number;
  readonly width?: number;
  readonly height?: number;
  readonly d?: string;
  readonly 'text-anchor'?: 'start' | 'middle' | 'end';
}

interface Elements {
  readonly html: Common & { readonly lang: string };
  readonly meta: {
    readonly charset?: string;
    readonly name?: string;
    readonly content?: string;
    readonly 'http-equiv'?: 'refresh';
  };
  readonly link: { readonly rel: string; readonly href: string };
  readonly script: { readonly src: string; readonly type: 'module' };
  /** For the document, and for shapes in a drawing. */
  readonly title: { readonly children: Child };
  readonly a: Common & { readonly href: string; readonly rel?: string };
  readonly time: Common & { readonly datetime: string };
  readonly th: Common & { readonly scope: 'col' | 'row' };
  readonly details: Common & { readonly open?: boolean };
  readonly form: Common & {
    readonly method: 'get' | 'post';
    readonly action: string;
    readonly autocomplete?: 'off';
  };
  readonly label: Common & { readonly for?: string };
  readonly button: Common & { readonly type?: 'button'; readonly name?: string; readonly value?: string };
  readonly input: Input & {
    readonly type: 'text' | 'password' | 'hidden' | 'checkbox' | 'date' | 'month' | 'number' | 'search' | 'url';
    readonly checked?: boolean | undefined;
  };
  readonly select: Omit<Input, 'value'>;
  readonly option: Common & { readonly value?: string; readonly selected?: boolean };
  readonly textarea: Input & { readonly rows?: number; readonly spellcheck?: boolean };
  readonly meter: Common & {
    readonly value: number;
    readonly min: number;
    readonly max: number;
    readonly high: number;
  };
  readonly svg: Common & { readonly viewBox: string };
  readonly g: Shape;
  readonly rect: Shape;
  readonly line: Shape;
  readonly path: Shape;
  readonly text: Shape;
}

export namespace JSX {
  interface Element {
    readonly type: unknown;
    readonly props: unknown;
  }
  type ElementType = keyof IntrinsicElements | ((props: never) => Element | null);
  interface ElementChildrenAttribute {
    readonly children: unknown;
  }
  interface IntrinsicElements extends Elements, Record<Plain, Common> {}
}

export function jsx(type: unknown, props: unknown, key?: unknown): JSX.Element;
export const jsxs: typeof jsx;
export const Fragment: (props: { readonly children?: Child }) => JSX.Element;
