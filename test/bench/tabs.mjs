// Tabs that Playwright does not drive: its network agent keeps a second copy of each document and decodes it when it is complete, which takes
// 0.7 s of a document of 13 MB.
import { setTimeout as delay } from "node:timers/promises";

const TIMES = `(() => {
  if (location.href === "about:blank") return null;
  const [page] = performance.getEntriesByType("navigation");
  const [paint] = performance.getEntriesByName("first-contentful-paint");
  return page?.loadEventEnd > 0 && paint !== undefined ? { load: page.loadEventEnd, paint: paint.startTime } : null;
})()`;

const SCREEN = { width: 1280, height: 800, deviceScaleFactor: 1, mobile: false };

/** Opens addresses in new tabs of a context of its own, one after the other. */
export class Tabs {
  #session;
  #context;
  #calls = 0;

  static async of(browser) {
    const tabs = new Tabs();
    tabs.#session = await browser.newBrowserCDPSession();
    tabs.#context = (await tabs.#session.send("Target.createBrowserContext")).browserContextId;
    return tabs;
  }

  /** The times of a page in milliseconds since its navigation: that of its first paint, and that after its scripts and its load event. */
  async timesOf(url) {
    // An empty tab first, as Playwright opens one: some versions of Chromium refuse to create a tab with a size ("Target position can only be
    // set for new windows").
    const { targetId } = await this.#session.send("Target.createTarget", { url: "about:blank", browserContextId: this.#context });
    const { sessionId } = await this.#session.send("Target.attachToTarget", { targetId, flatten: false });
    await this.#ask(sessionId, "Emulation.setDeviceMetricsOverride", SCREEN);
    await this.#ask(sessionId, "Page.navigate", { url });
    for (;;) {
      const { result } = await this.#ask(sessionId, "Runtime.evaluate", { expression: TIMES, returnByValue: true });
      if (result.value !== null && result.value !== undefined) {
        await this.#session.send("Target.closeTarget", { targetId });
        return result.value;
      }
      await delay(100);
    }
  }

  /** One command to a tab, and its result. */
  async #ask(sessionId, method, params) {
    this.#calls += 1;
    const id = this.#calls;
    const { promise, resolve } = withResolvers();
    const receive = (event) => {
      const message = JSON.parse(event.message);
      if (event.sessionId === sessionId && message.id === id) resolve(message.result ?? { result: {} });
    };
    this.#session.on("Target.receivedMessageFromTarget", receive);
    await this.#session.send("Target.sendMessageToTarget", { sessionId, message: JSON.stringify({ id, method, params }) });
    const result = await promise;
    this.#session.off("Target.receivedMessageFromTarget", receive);
    return result;
  }
}

/** Promise.withResolvers, which Node 20 does not have. */
function withResolvers() {
  let resolve;
  const promise = new Promise((done) => {
    resolve = done;
  });
  return { promise, resolve };
}
