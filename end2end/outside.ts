// The demo world as a test drives and reads it: its control API.

/** How an agent treats its next new tasks. */
export interface Behaviour {
  behaviour:
    | 'works'
    | 'asks'
    | 'asks_twice'
    | 'auth'
    | 'rejects'
    | 'fails'
    | 'fails_after_booking'
    | 'claims_without_booking'
    | 'slow'
    | 'replies_with_message'
    | 'goes_quiet';
  delay_ms?: number;
  /** Whether the HTTP answer to the message that made the task is withheld. */
  hold_answer?: boolean;
  reason?: string;
  /** For how many new tasks; for all where missing. */
  times?: number;
}

/** How a booking system answers. */
export interface SystemBehaviour {
  lookup?: 'ok' | 'error' | 'absent' | 'hang';
  cancel?: 'ok' | 'conflict' | 'error' | 'hang' | 'accepts_and_does_nothing';
  lag_ms?: number;
  times?: number;
}

/** One call that an agent received. */
export interface Call {
  method: string;
  message_id: string | null;
  context_id: string | null;
  task_id: string | null;
  metadata: Record<string, unknown> | null;
}

export interface Sum {
  amount: string;
  currency: string;
}

export interface Ledger {
  name: string;
  title: string;
  bookings: { id: string; reference: string; status: string; title: string; total: Sum; fee: Sum; details: Record<string, unknown> }[];
  operations: { booking: string; operation: string; idempotency_key: string | null; at: string; note: string }[];
}

export class Outside {
  constructor(private readonly url: string) {}

  async behave(agent: string, behaviour: Behaviour): Promise<void> {
    await this.call('PUT', `/agents/${agent}/behaviour`, behaviour);
  }

  async system(name: string, behaviour: SystemBehaviour): Promise<void> {
    await this.call('PUT', `/booking-systems/${name}/behaviour`, behaviour);
  }

  /** What an agent was asked, oldest first. */
  async calls(agent: string): Promise<Call[]> {
    const answer = (await this.call('GET', `/agents/${agent}/requests`)) as { requests: Call[] };
    return answer.requests;
  }

  /** The messages among them. */
  async sends(agent: string): Promise<Call[]> {
    return (await this.calls(agent)).filter((call) => call.method === 'SendMessage');
  }

  async ledger(name: string): Promise<Ledger> {
    return (await this.call('GET', `/ledgers/${name}`)) as Ledger;
  }

  /** Bookings that stand, over all ledgers. */
  async standing(): Promise<string[]> {
    const { ledgers } = (await this.call('GET', '/ledgers')) as { ledgers: Ledger[] };
    const bookings = ledgers.flatMap((ledger) => ledger.bookings);
    return bookings.filter((booking) => booking.status === 'CONFIRMED').map((booking) => booking.id);
  }

  private async call(method: string, path: string, body?: unknown): Promise<unknown> {
    const answer = await fetch(this.url + path, {
      method,
      ...(body === undefined ? {} : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
    });
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`);
    return answer.json();
  }
}
