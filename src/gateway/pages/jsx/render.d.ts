import type { JSX } from '#jsx/jsx-runtime';

export function renderToString(element: JSX.Element): string;
