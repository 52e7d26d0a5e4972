#!/bin/sh
# Runs mpirun, and ends it if it hangs: Open MPI 4.1 can, with PMIx 4.2, if a rank is killed in the tenth of a second in which it
# connects to mpirun. All ranks have ended then, and mpirun waits for a lock of PMIx for ever.
#   usage: scripts/mpirun.sh ARGUMENTS OF MPIRUN      SECONDS_LEFT (60) is how long it may be without a process
set -eu
run=$$

# alive returns whether mpirun has a process, of this machine or an ssh, that has not ended.
alive() {
	for child in $(cat /proc/$run/task/*/children); do
		read -r _ _ state _ </proc/"$child"/stat && [ "$state" != Z ] && return
	done 2>/dev/null
	return 1
}

# The watcher is no child of mpirun, and keeps none of its files but the standard error.
(
	(
		left=${SECONDS_LEFT:-60}
		while sleep 1 2>/dev/null && [ -d /proc/$run ]; do
			if alive; then
				left=${SECONDS_LEFT:-60}
			elif [ $((left -= 1)) -le 0 ]; then
				echo 'mpirun: all its processes have ended, but it has not: killed' >&2
				kill -KILL $run
				exit
			fi
		done
	) >/dev/null </dev/null &
)
exec mpirun "$@"
