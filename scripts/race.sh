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
	# In these, goroutines of tests wait for each other; race_test.go has the reasons.
	grep -vx -e . -e ./animsys/skin -e ./cmd/demo -e ./cmd/mannequin/internal/motion
