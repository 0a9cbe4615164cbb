"""Without an argument: the cases of process Join on standard input; each row of `rows` is a list, and where two lists of at most two
numbers are given the case is to be answered, else it is to be refused. With one: answers a case, `join` as the process says, `first`
with the first row only."""
import json
import sys


def allowed(rows):
    return len(rows) == 2 and all(len(row) <= 2 for row in rows)


def main():
    if len(sys.argv) > 1:
        rows = json.loads(sys.stdin.readline())["inputs"]["rows"]
        if not allowed(rows):
            print(json.dumps({"refused": "not two rows"}))
        else:
            print(json.dumps({"outputs": {"all": rows[0] + (rows[1] if sys.argv[1] == "join" else [])}}))
        return
    cases = [case for case in map(json.loads, sys.stdin) if case["kind"] == "spec_test"]
    assert len(cases) > 10, len(cases)
    for case in cases:
        assert allowed(case["inputs"]["rows"]) == (case["expected"] == "definition"), case
    assert any(len(row) > 2 for case in cases for row in case["inputs"]["rows"]), "no row that is too long"


if __name__ == "__main__":
    main()
