/** The programs of OpenSSH, as absolute paths. */
export interface OpenSsh {
  readonly sshd: string;
  readonly ssh: string;
  readonly keygen: string;
}

export function findOpenSsh(): OpenSsh;
