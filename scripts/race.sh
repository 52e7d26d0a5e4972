#!/bin/sh
# Prints the packages in which goroutines meet, for the race detector: their code, or a test of theirs,
# starts goroutines, hands work to workers, or guards what several goroutines use.
set -eu
code='^[^/"`]*\bgo (func\b|[[:alnum:]_.]+\()|"sync(/atomic)?"|\.(NewPool|Parallel|Go)\('
tests='^[^/"`]*\bgo (func\b|[[:alnum:]_.]+\()|"sync/atomic"|\bsync\.(WaitGroup|Mutex|RWMutex|Map)|\.(NewPool|Parallel|Go)\('
{
	grep -rlE --include='*.go' --exclude='*_test.go' "$code" .
	grep -rlE --include='*_test.go' "$tests" .
} | grep -v /testdata/ | xargs -n1 dirname | sort -u |
	# One goroutine of a test runs the command, and others feed it and read what it prints.
	grep -vx ./cmd/mannequin/internal/motion
