// Usage: node walk.js URL [SCREENSHOTS [PATH...]]
// Walks all pages of a site in Chromium, by its links and from each PATH, and tells
// what is wrong with them, one problem a line: answers that are no success, what
// axe-core finds, in light and dark, on a phone and on a desktop, letters that are
// too small, and anything that runs or is blocked. SCREENSHOTS may be "".
// A text whose language is not known states none. SCREENSHOTS gets ten pages, each in light
// and dark, on a phone and on a desktop.
// With DEAD_LINKS in the environment links may lead nowhere.
import { chromium } from "playwright-core";
import axe from "axe-core";

const [start, screenshots, ...more] = process.argv.slice(2);
const origin = new URL(start).origin;
const problems = [];
const timeout = 600_000; // a bound for what hangs, not for what a busy machine keeps waiting
const browser = await chromium.launch({
  timeout,
  executablePath: "/usr/bin/chromium",
  args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--disable-background-networking", "--disable-component-update", "--disable-sync"],
});

const looks = [
  { name: "desktop", viewport: { width: 1280, height: 900 }, colorScheme: "light" },
  { name: "phone", viewport: { width: 360, height: 740 }, colorScheme: "dark" },
];
let pages = 0;
for (const look of looks) {
  const context = await browser.newContext({ viewport: look.viewport, colorScheme: look.colorScheme, ignoreHTTPSErrors: true });
  context.setDefaultTimeout(timeout);
  const page = await context.newPage();
  let at = "";
  page.on("dialog", (d) => { problems.push(`${at}: a dialog: ${d.message()}`); d.dismiss(); });
  page.on("console", (m) => { if (m.type() === "error" && !at.endsWith("/no/such")) problems.push(`${at}: ${m.text()}`); });
  page.on("request", (r) => { if (new URL(r.url()).origin !== origin) problems.push(`${at}: asks for ${r.url()}`); });
  const seen = new Set([start, ...more.map((path) => origin + path)]);
  for (const url of seen) {
    if (seen.size > 500) { problems.push("more than 500 pages"); break; }
    at = url;
    // A download is no page: the head tells.
    const head = await context.request.fetch(url, { method: "HEAD", headers: { accept: "text/html" }, timeout, maxRetries: 3 });
    if (head.status() === 404 && process.env.DEAD_LINKS) continue;
    if (!head.ok()) { problems.push(`${url}: ${head.status()}`); continue; }
    if (!(head.headers()["content-type"] ?? "").startsWith("text/html")) continue;
    await page.goto(url);
    pages++;
    await page.evaluate(axe.source);
    const found = await page.evaluate(() => axe.run({ resultTypes: ["violations"], rules: { "html-has-lang": { enabled: false } } }));
    for (const v of found.violations) problems.push(`${url} (${look.name}): ${v.id}: ${v.help}: ${v.nodes.map((n) => n.html).slice(0, 2).join(" ")}`);
    const small = await page.evaluate(() => [...document.body.querySelectorAll("*")].filter((e) =>
      parseFloat(getComputedStyle(e).fontSize) < 12 && [...e.childNodes].some((n) => n.nodeType === Node.TEXT_NODE && n.data.trim())).map((e) => e.outerHTML));
    for (const e of small) problems.push(`${url} (${look.name}): letters of less than 12 px: ${e}`);
    const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    if (wide > 0) problems.push(`${url} (${look.name}): ${wide} px wider than the window`);
    if (await page.evaluate(() => document.scripts.length + document.querySelectorAll("iframe,object,embed,[onclick],[onerror]").length)) problems.push(`${url}: markup that is not ours`);
    for (const img of await page.$$eval("img", (all) => all.filter((i) => !i.naturalWidth).map((i) => i.src))) problems.push(`${url}: ${img} is not shown`);
    const links = await page.$$eval("a[href]", (all) => all.map((a) => a.href));
    for (const l of links) {
      const u = new URL(l);
      if (u.origin === origin) seen.add(u.href.split("#")[0]);
      else if (["javascript:", "data:", "file:", "vbscript:"].includes(u.protocol)) problems.push(`${url}: links ${l}`);
    }
  }
  if (screenshots) {
    const shown = { menu: "/", phlog: "/phlog/", text: "/phlog/2026-10-18-the-file-nobody-updates.txt", drawn: "/pictures/", picture: "/pictures/burrow.png",
      table: "/tables/item-types.txt", search: "/search?q=robots", question: "/search", missing: "/no/such", status: "/server-status" };
    for (const colorScheme of ["light", "dark"]) {
      await page.emulateMedia({ colorScheme });
      for (const [name, path] of Object.entries(shown)) {
        at = origin + path;
        await page.goto(at);
        const color = colorScheme === look.colorScheme ? "" : `-${colorScheme}`;
        await page.screenshot({ path: `${screenshots}/view-${name}-${look.name}${color}.png` });
      }
    }
  }
  await context.close();
}
await browser.close();
for (const p of problems) console.log(p);
console.error(`${pages} pages`);
process.exit(problems.length ? 1 : 0);
