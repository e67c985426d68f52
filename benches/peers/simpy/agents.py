"""The agent life of benches/simple-agents.yaml in SimPy: one process per agent.

Prints one line of JSON: seconds, events (state changes), sessions, and the mean and peak bytes of
three memory models over the second hour.
"""

import json
import random
import sys
import time

import simpy

WARMUP, END = 3600.0, 7200.0
PREFILL, DECODE, BLOCK = 8000.0, 60.0, 256
TTL_TOOL, TTL_USER, TTL_FINISHED = 60.0, 300.0, 300.0
# Bytes per token and per sequence: all-mla-93, kimi-k3, llama-3.1-70b.
MODELS = [(107_136, 0), (27_648, 449_372_160), (327_680, 0)]


class Fleet:
    """Bytes that all agents hold under each model, their integrals and peaks."""

    def __init__(self, env):
        self.env = env
        self.held = [0] * len(MODELS)
        self.since = WARMUP
        self.integral = [0.0] * len(MODELS)
        self.peak = [0] * len(MODELS)
        self.events = 0

    def settle(self):
        now = min(self.env.now, END)
        if now > self.since:
            for i, held in enumerate(self.held):
                self.integral[i] += held * (now - self.since)
                if held > self.peak[i]:
                    self.peak[i] = held
            self.since = now

    def change(self, tokens, sequences):
        self.settle()
        for i, (token, state) in enumerate(MODELS):
            self.held[i] += tokens * token + sequences * state


def agent(env, fleet, draw):
    context, held = 0, False
    turns = draw.randint(1, 5)
    for turn in range(turns):
        steps = draw.randint(1, 9)
        for step in range(steps):
            if step > 0:
                new = round(draw.expovariate(1 / 800))
            elif turn > 0:
                new = round(draw.expovariate(1 / 1000))
            else:
                new = 10_000 + round(draw.uniform(5000, 20000))
            prefill = new if held else context + new
            fleet.change(prefill, 0 if held else 1)
            fleet.events += 1
            held = True
            context += new
            yield env.timeout(prefill / PREFILL)
            left = max(1, round(draw.uniform(50, 1000)))
            while left > 0:
                block = min(BLOCK, left)
                fleet.change(block, 0)
                fleet.events += 1
                context += block
                left -= block
                yield env.timeout(block / DECODE)
            fleet.events += 1
            if step + 1 < steps:
                pause, ttl = draw.expovariate(1 / 20), TTL_TOOL
            elif turn + 1 < turns:
                pause, ttl = draw.expovariate(1 / 300), TTL_USER
            else:
                pause, ttl = float("inf"), TTL_FINISHED
            if pause > ttl:
                yield env.timeout(ttl)
                fleet.change(-context, -1)
                fleet.events += 1
                held = False
                if pause == float("inf"):
                    return
                yield env.timeout(pause - ttl)
            else:
                yield env.timeout(pause)


def arrivals(env, fleet, draw, rate, started):
    while True:
        yield env.timeout(draw.expovariate(rate))
        started[0] += 1
        env.process(agent(env, fleet, draw))


def main():
    scale = int(sys.argv[1]) if len(sys.argv) > 1 else 1
    env = simpy.Environment()
    fleet, draw, started = Fleet(env), random.Random(7), [0]
    env.process(arrivals(env, fleet, draw, 9000 * scale / 3600, started))
    clock = time.process_time()
    env.run(until=END)
    fleet.settle()
    seconds = time.process_time() - clock
    print(
        json.dumps(
            {
                "program": "SimPy " + simpy.__version__,
                "seconds": seconds,
                "events": fleet.events,
                "sessions": started[0],
                "mean_bytes": [i / (END - WARMUP) for i in fleet.integral],
                "peak_bytes": fleet.peak,
            }
        )
    )


main()
