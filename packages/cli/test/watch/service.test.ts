import { expect, test } from "vitest";
import { serviceFor } from "../../src/watch/service.js";

const RUN = {
  command: ["/usr/bin/node", '/opt/my "apps"/$bough & co.js', "--store", "/home/ada/50%.db", "sync", "--watch"],
  variables: { CODEX_HOME: "/home/ada/$x & <y>" },
};
const place = (platform: NodeJS.Platform, env = {}) => ({ env, home: "/home/ada", platform });

test("a systemd unit quotes its words and takes no part of them for a specifier or a variable", () => {
  const unit = serviceFor(place("linux"), RUN);
  expect(unit?.file).toBe("/home/ada/.config/systemd/user/bough-sync.service");
  expect(unit?.text).toContain(
    'ExecStart="/usr/bin/node" "/opt/my \\"apps\\"/$$bough & co.js" "--store" "/home/ada/50%%.db" "sync" "--watch"\n',
  );
  expect(unit?.text).toContain('Environment="CODEX_HOME=/home/ada/$x & <y>"\n');
  expect(serviceFor(place("linux", { XDG_CONFIG_HOME: "/etc/ada" }), RUN)?.file).toBe("/etc/ada/systemd/user/bough-sync.service");
  expect(serviceFor(place("linux", { XDG_CONFIG_HOME: "relative" }), RUN)?.file).toBe(unit?.file);
});

test("a launchd agent is a property list with its words escaped, and starts again only after a failure", () => {
  const agent = serviceFor(place("darwin"), RUN);
  expect(agent?.file).toBe("/home/ada/Library/LaunchAgents/dev.bough.sync.plist");
  expect(agent?.text).toContain("<string>/opt/my &quot;apps&quot;/$bough &amp; co.js</string>");
  expect(agent?.text).toContain("<key>CODEX_HOME</key>\n      <string>/home/ada/$x &amp; &lt;y&gt;</string>");
  expect(agent?.text).toContain("<key>KeepAlive</key><dict><key>SuccessfulExit</key><false/></dict>");
});

test("a scheduled task starts at logon without a limit of its time, and sets the variables", () => {
  const task = serviceFor(place("win32", { LOCALAPPDATA: "/data" }), RUN);
  expect(task?.file).toBe("/data/bough/sync-task.xml");
  expect(task?.text).toContain("set &quot;CODEX_HOME=/home/ada/$x &amp; &lt;y&gt;&quot; &amp;&amp; &quot;/usr/bin/node&quot;");
  expect(task?.text).toContain("<ExecutionTimeLimit>PT0S</ExecutionTimeLimit>");
  expect(task?.start[0]).toEqual(["schtasks", "/Create", "/F", "/TN", "Bough sync", "/XML", "/data/bough/sync-task.xml"]);
});

test("other systems have none", () => {
  expect(serviceFor(place("sunos"), RUN)).toBeUndefined();
});
