import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'

/**
 * The name under which a process holds its runs: `host/pid/nonce`. A restarted service finds that the holder of an
 * unfinished run is dead without waiting for the lease to expire.
 */
export function createHolder (): string {
  return `${hostname()}/${process.pid}/${randomUUID()}`
}

/** True only when it is certain: a process of this host that is gone, or whose pid is ours now. */
export function isProvablyDead (holder: string, self: string): boolean {
  const [host, pid] = holder.split('/')
  const [ownHost, ownPid] = self.split('/')
  if (holder === self || host !== ownHost) return false
  return pid === ownPid || !isAlive(Number(pid))
}

function isAlive (pid: number): boolean {
  if (!Number.isInteger(pid) || pid <= 0) return false
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM' // alive, of another user
  }
}
