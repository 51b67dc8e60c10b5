import { describe, expect, test } from "vitest";
import { ownerIn } from "../../src/page/server.js";

// As Linux writes /proc/net/tcp: a listening socket, and the two ends of a connection over loopback.
const TABLE = `  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 4411 1 0000000000000000 100 0 0 10 0
   1: 0100007F:C350 0100007F:1F90 01 00000000:00000000 00:00000000 00000000  1001        0 4412 1 0000000000000000 20 4 30 10 -1
   2: 0100007F:1F90 0100007F:C350 01 00000000:00000000 00:00000000 00000000  1000        0 4413 1 0000000000000000 20 4 30 10 -1
`;

describe("the owner of a connection", () => {
  test("is that of its other end", () => {
    expect(ownerIn(TABLE, 0xc350, 0x1f90)).toBe(1001);
  });

  test("is unknown where the table does not have the connection, or there is no table", () => {
    expect(ownerIn(TABLE, 0xc351, 0x1f90)).toBeUndefined();
    expect(ownerIn("", 1, 2)).toBeUndefined();
  });
});
