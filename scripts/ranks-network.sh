#!/bin/sh
# Trains with two processes of one thread on two hosts, which are network namespaces of this machine, over links of some bandwidths:
# scripts/ranks-network.sh [DATA]. Prints samples per second beside what arithmetic expects if no sending is hidden. RATES (1gbit 2gbit
# 5gbit 10gbit) are the bandwidths each way, SECONDS_EACH (15) the time of each run, BATCH (64) the batch. Needs root and ip
# (iproute2). Without DATA it trains on motion that rules make.
set -eu
rates=${RATES:-1gbit 2gbit 5gbit 10gbit} seconds=${SECONDS_EACH:-15} batch=${BATCH:-64}
[ "$(id -u)" -eq 0 ] || { echo 'ranks-network: only root may make network namespaces' >&2; exit 1; }
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
dir=$(mktemp -d)
a=mannequin-a b=mannequin-b
end() {
	for n in $a $b; do
		ip netns del $n 2>/dev/null || true
		rm -rf /etc/netns/$n
	done
	rm -rf "$dir"
}
trap end EXIT
${GO:-go} build -tags mpi -o "$dir/mannequin" ./cmd/mannequin
data=${1:-}
if [ -z "$data" ]; then
	data=$dir/data
	"$dir/mannequin" procgen --out "$data" --minutes 4 >"$dir/log" 2>&1 || { cat "$dir/log"; exit 1; }
fi

ip netns add $a
ip netns add $b
ip link add mannequin0 netns $a type veth peer name mannequin0 netns $b
ip -n $a addr add 10.250.0.1/24 dev mannequin0
ip -n $b addr add 10.250.0.2/24 dev mannequin0
for n in $a $b; do
	ip -n $n link set lo up
	ip -n $n link set mannequin0 up
	mkdir -p /etc/netns/$n
	printf '127.0.0.1 localhost\n10.250.0.1 %s\n10.250.0.2 %s\n' $a $b >/etc/netns/$n/hosts
done
# In place of ssh.
cat >"$dir/agent" <<'AGENT'
#!/bin/sh
host=$1
shift
exec ip netns exec "$host" unshare -u sh -c "hostname $host; $*"
AGENT
chmod +x "$dir/agent"

# train prints the samples per second.
train() {
	rm -f "$dir"/net.*
	ip netns exec $a unshare -u sh -c 'hostname "$0"; exec mpirun "$@"' $a --quiet --bind-to none --host $a,$b -n 2 --mca plm_rsh_agent "$dir/agent" \
		--mca btl self,tcp --mca btl_tcp_if_include 10.250.0.0/24 --mca oob_tcp_if_include 10.250.0.0/24 \
		"$dir/mannequin" train mann "$data" --out "$dir/net.safetensors" --minutes "$(awk "BEGIN { print $seconds / 60 }")" --batch "$batch" --json --threads 1 --shards 2 >"$dir/json" 2>"$dir/log" || { cat "$dir/log" >&2; exit 1; }
	sed -n 's/.*"samples_per_second": *\([0-9.]*\).*/\1/p' "$dir/json"
}

free=$(train)
bytes=$(wc -c <"$dir/net.safetensors")
printf 'batch %s, samples/s: %.0f without a limit\n' "$batch" "$free"
for rate in $rates; do
	for n in $a $b; do
		ip netns exec $n tc qdisc replace dev mannequin0 root tbf rate "$rate" burst 1mb latency 100ms
	done
	got=$(train)
	gbit=${rate%gbit}
	# A step sends the gradients' size each way: half of the gradients, and half of the weights.
	awk "BEGIN { c = $batch / $free; s = $bytes * 8 / ($gbit * 1e9); printf \"%s: %.0f, %.2f of that; %.2f if nothing is hidden\n\", \"$rate\", $got, $got / $free, c / (c + s) }"
done
