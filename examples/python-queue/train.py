"""Trains a softmax over a few answers by REINFORCE, on groups that it takes from a queue. Nothing but Python's own library is needed.

    python3 train.py http://127.0.0.1:PORT

A group is taken under a lease. What came of it, the new policy, goes back in the same request that acknowledges the group: if this program
dies before, the group is handed to the next one, which begins from the policy that was acknowledged last.
"""

import json
import math
import sys
import urllib.error
import urllib.request

LEARNING_RATE = 0.1


def post(url, body=None):
    data = None if body is None else json.dumps(body).encode()
    headers = {"content-type": "application/json"} if data else {}
    request = urllib.request.Request(url, data=data, headers=headers, method="POST")
    with urllib.request.urlopen(request, timeout=60) as response:
        return None if response.status == 204 else json.load(response)


def get(url):
    with urllib.request.urlopen(url, timeout=60) as response:
        return json.load(response)


def softmax(logits):
    weights = [math.exp(each - max(logits)) for each in logits]
    return [each / sum(weights) for each in weights]


def update(logits, runs):
    """One step up the gradient of sum(advantage * log p(token)); advantages are taken within the group."""
    mean = sum(run["reward"] for run in runs) / max(1, len(runs))
    probabilities = softmax(logits)
    gradient = [0.0] * len(logits)
    for run in runs:
        for sample in run["samples"]:
            for token in sample["tokens"]:
                for place in range(len(logits)):
                    hit = 1.0 if place == token else 0.0
                    gradient[place] += (run["reward"] - mean) * (hit - probabilities[place])
    return [logit + LEARNING_RATE * slope for logit, slope in zip(logits, gradient)]


def main(url):
    policy = get(f"{url}/policy")
    groups = 0
    while True:
        taken = post(f"{url}/lease")
        if taken is None:
            continue
        if taken.get("end"):
            print(f"train.py: {groups} groups, policy {policy['version']}", flush=True)
            return
        runs = taken["group"]["runs"]
        made = {"version": policy["version"] + 1, "logits": update(policy["logits"], runs)}
        try:
            post(f"{url}/ack", {"lease": taken["lease"], "policy": made})
        except urllib.error.HTTPError as error:
            if error.code != 409:
                raise
            # The lease had run out, and somebody else has the group: what was made of it here is void.
            policy = get(f"{url}/policy")
            continue
        policy = made
        groups += 1


if __name__ == "__main__":
    main(sys.argv[1])
