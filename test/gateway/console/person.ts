import type { Locator, Page } from 'playwright-core';
import { ADMIN_TOKEN } from '../../servers/gateway.js';

/** Somebody at a browser, whose clicks are counted. */
export class Person {
  readonly page: Page;
  /** What was clicked, in order. */
  readonly clicks: string[] = [];

  private constructor(page: Page) {
    this.page = page;
  }

  /** Whoever opens the console without a session is asked to sign in first. */
  static async signedIn(page: Page, adminUrl: string): Promise<Person> {
    const person = new Person(page);
    await page.context().clearCookies();
    await page.goto(adminUrl);
    await person.type('token', ADMIN_TOKEN);
    await person.button('Sign in');
    return person;
  }

  type(field: string, text: string): Promise<void> {
    return this.page.locator(`main input[name="${field}"]:visible`).fill(text);
  }

  /** Into the search that stands on every page. */
  search(text: string): Promise<void> {
    return this.page.locator('header input[type="search"]').fill(text);
  }

  choose(field: string, value: string): Promise<unknown> {
    return this.page.locator(`select[name="${field}"]:visible`).selectOption(value);
  }

  link(label: string): Promise<void> {
    return this.#click(label, this.page.getByRole('link', { name: label, exact: true }));
  }

  /** One of a list, which is called `label` here: the link whose address ends in its ID. */
  one(label: string, id: string): Promise<void> {
    return this.#click(label, this.page.locator(`main a[href$="/${id}"]`));
  }

  button(label: string): Promise<void> {
    return this.#click(label, this.page.getByRole('button', { name: label, exact: true }));
  }

  /** What is folded up. */
  open(label: string): Promise<void> {
    return this.#click(label, this.page.locator('summary', { hasText: new RegExp(`^${label}$`) }));
  }

  text(): Promise<string> {
    return this.page.innerText('main');
  }

  async #click(label: string, what: Locator): Promise<void> {
    this.clicks.push(label);
    await what.first().click();
  }
}
