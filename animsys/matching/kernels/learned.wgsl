// Learned motion matching: what LearnedStream does with a row between its networks. shader.go puts constants, tables and arithmetic before this,
// and documents the kernels. The names are those of simulate.go, steering.go and learnedstream.go, where the reasons are.

// The place of a row's numbers.
const at_place = 0u; // x, z, yaw of the root
const at_body = 3u;  // the same of the simulated body
const at_vel = 6u;
const at_acc = 8u;
const at_spin = 10u;
const at_heading = 11u;
const at_faced = 12u;
const at_asked = 13u; // the velocity and the facing that were asked for when it searched last
const at_facing = 15u;
const at_since = 16u;
const at_wait = 17u;
const at_restart = 18u;
const at_went = 19u;
const at_must = 21u;
const at_act = 25u;
const at_left = 26u;
const at_ago = 27u;
const at_rest = 28u;
const at_rest_at = 29u;
const at_seed = 30u;
const at_was = 32u;
const at_soon = 33u;
const at_wish = 34u; // of this tick: velocity, turn, facing, tags, whether it stands, whether it searches
const at_wish_turn = 36u;
const at_wish_facing = 37u;
const at_wish_must = 38u;
const at_stands = 42u;
const at_due = 43u;
const at_upper = 44u; // the action that it plays with its upper body, and for how long
const at_state = 46u;
const at_jumped = at_state + state_size;

const pace_from = 7u;   // tags of a goal
const endless = 3.0e38; // a cost

// Sets of tags: the lower and the upper 32 bits.
fn tags_of(a: f32, b: f32, c: f32, d: f32) -> vec2<u32> {
	return vec2<u32>(u32(a) | (u32(b) << 16u), u32(c) | (u32(d) << 16u));
}

fn row_tags(at: u32) -> vec2<u32> {
	return tags_of(rows[at], rows[at + 1u], rows[at + 2u], rows[at + 3u]);
}

fn table_tags(at: u32) -> vec2<u32> {
	return tags_of(tables[at], tables[at + 1u], tables[at + 2u], tables[at + 3u]);
}

fn put_tags(at: u32, t: vec2<u32>) {
	rows[at] = f32(t.x & 0xffffu);
	rows[at + 1u] = f32(t.x >> 16u);
	rows[at + 2u] = f32(t.y & 0xffffu);
	rows[at + 3u] = f32(t.y >> 16u);
}

fn same(a: vec2<u32>, b: vec2<u32>) -> bool {
	return a.x == b.x && a.y == b.y;
}

fn none(a: vec2<u32>) -> bool {
	return a.x == 0u && a.y == 0u;
}

fn meets(a: vec2<u32>, b: vec2<u32>) -> bool {
	return (a.x & b.x) != 0u || (a.y & b.y) != 0u;
}

fn idle_tags() -> vec2<u32> {
	return vec2<u32>(idle_low, idle_high);
}

fn walk_tags() -> vec2<u32> {
	return vec2<u32>(walk_low, walk_high);
}

fn acts_tags() -> vec2<u32> {
	return vec2<u32>(acts_low, acts_high);
}

fn jump_tags() -> vec2<u32> {
	return vec2<u32>(jump_low, jump_high);
}

fn long2(v: vec2<f32>) -> f32 {
	return sqrt(dot(v, v));
}

fn ahead_of(yaw: f32) -> vec2<f32> {
	return sincos(yaw);
}

// Body is the simulated body.
struct Body {
	place: vec2<f32>,
	vel: vec2<f32>,
	acc: vec2<f32>,
	yaw: f32,
	spin: f32,
}

fn body_of(base: u32) -> Body {
	return Body(get2(base + at_body), get2(base + at_vel), get2(base + at_acc), rows[base + at_body + 2u], rows[base + at_spin]);
}

fn put_body(base: u32, b: Body) {
	put2(base + at_body, b.place);
	put2(base + at_vel, b.vel);
	put2(base + at_acc, b.acc);
	rows[base + at_body + 2u] = b.yaw;
	rows[base + at_spin] = b.spin;
}

// stepped returns a body some seconds later; e and f are how much of its velocity's and its facing's springs is left then.
fn stepped(was: Body, velocity: vec2<f32>, facing: f32, seconds: f32, e: f32, f: f32) -> Body {
	var b = was;
	let y = damp_velocity;
	let j0 = b.vel - velocity;
	let j1 = b.acc + j0 * y;
	b.place = b.place + velocity * seconds + (j1 * (1.0 / (y * y)) + j0 * (1.0 / y)) - (j1 * (1.0 / (y * y)) + (j0 + j1 * seconds) * (1.0 / y)) * e;
	b.vel = (j0 + j1 * seconds) * e + velocity;
	b.acc = (b.acc - j1 * (y * seconds)) * e;
	var by = b.vel - was.vel;
	var change = 3.4e38;
	if accel_most > 0.0 {
		change = accel_most * seconds;
	}
	if jerk_most > 0.0 && dot(b.vel, by) > 0.0 {
		change = min(change, (long2(was.acc) + jerk_most * seconds) * seconds);
	}
	if long2(by) > change {
		by = by * (change / long2(by));
		b.vel = was.vel + by;
		b.acc = by * (1.0 / seconds);
		b.place = was.place + (was.vel + b.vel) * (seconds / 2.0);
	}
	let goal = b.yaw + wrap(facing - b.yaw);
	let k0 = b.yaw - goal;
	let k1 = b.spin + k0 * damp_facing;
	var yaw = f * (k0 + k1 * seconds) + goal;
	var spin = f * (b.spin - k1 * damp_facing * seconds);
	if abs(k0) + abs(k1) < 1e-18 {
		yaw = goal;
		spin = 0.0;
	}
	let most = min(spin_most, spot_most + max(spin_most - spot_most, 0.0) * max(long2(b.vel), long2(velocity)));
	let turn = yaw - b.yaw;
	if abs(turn) > most * seconds {
		yaw = b.yaw + clamp(turn, -most * seconds, most * seconds);
		spin = clamp(spin, -most, most);
	}
	b.yaw = wrap(yaw);
	b.spin = spin;
	return b;
}

// cost_of returns the square of the distance of count values of a row and of a table, cost_asked that of the query and of a table.
fn cost_of(row: u32, table: u32, count: u32) -> f32 {
	var sum = 0.0;
	for (var i = 0u; i < count; i++) {
		let e = tables[table + i] - rows[row + i];
		sum += e * e;
	}
	return sum;
}

fn cost_asked(query: u32, table: u32, count: u32) -> f32 {
	var sum = 0.0;
	for (var i = 0u; i < count; i++) {
		let e = tables[table + i] - net[query + i];
		sum += e * e;
	}
	return sum;
}

// cost_net is that of two values in the network's memory, cost_row that of one there and of a row.
fn cost_net(a: u32, b: u32, count: u32) -> f32 {
	var sum = 0.0;
	for (var i = 0u; i < count; i++) {
		let e = net[b + i] - net[a + i];
		sum += e * e;
	}
	return sum;
}

fn cost_row(a: u32, row: u32, count: u32) -> f32 {
	var sum = 0.0;
	for (var i = 0u; i < count; i++) {
		let e = rows[row + i] - net[a + i];
		sum += e * e;
	}
	return sum;
}

// shown reports whether the state of a row shows what is asked for.
fn shown(base: u32, must: vec2<u32>) -> bool {
	let is = row_tags(base + at_must);
	return same(must, is) || (none(must) && same(is, walk_tags()));
}

fn idle_at(i: u32) -> u32 {
	return idles + i * idle_size;
}

fn act_at(i: u32) -> u32 {
	return acts + i * act_size;
}

// nearest_idle returns the idle of a stance whose beginning is nearest to features of a row, or of a query in the network's memory, and costs
// less than least, or −1.
fn nearest_idle(must: vec2<u32>, features: u32, asks: bool, least: f32) -> i32 {
	var best = -1;
	var most = least;
	for (var i = 0u; i < idle_count; i++) {
		if same(table_tags(idle_at(i)), must) {
			var c = 0.0;
			if asks {
				c = cost_asked(features, idle_at(i) + 4u, feature_count);
			} else {
				c = cost_of(features, idle_at(i) + 4u, feature_count);
			}
			if c < most {
				best = i32(i);
				most = c;
			}
		}
	}
	return best;
}

// stay begins to play an idle.
fn stay(base: u32, i: i32) {
	let seed = (bitcast<u32>(rows[base + at_place]) * 31u) ^ (bitcast<u32>(rows[base + at_place + 1u]) * 17u) ^ bitcast<u32>(rows[base + at_place + 2u]);
	put_seed(base, seed);
	rows[base + at_rest] = f32(i);
	rows[base + at_rest_at] = 0.0;
	rows[base + at_was] = -1.0;
	rows[base + at_soon] = select(0.0, 1.0, cost_of(base + at_state, idle_at(u32(i)) + 4u, state_size) > rest_near);
}

fn put_seed(base: u32, seed: u32) {
	rows[base + at_seed] = f32(seed & 0xffffu);
	rows[base + at_seed + 1u] = f32(seed >> 16u);
}

// pace_of returns the speed of a body that should go at a speed in frames with some tags.
fn pace_of(speed: f32, must: vec2<u32>) -> f32 {
	if none(must) {
		return clamp(speed, 0.0, fastest_any);
	}
	var i = 0u;
	for (var k = 0u; k < 64u; k++) {
		if ((select(must.x, must.y, k >= 32u) >> (k % 32u)) & 1u) != 0u {
			i = k;
			break;
		}
	}
	let least = select(speed, max(speed, tables[slowests + i]), speed > 0.0);
	return max(0.0, min(tables[fastests + i], least));
}

// goes_on returns the tags of the action that a row plays with its upper body, as if nobody had asked for it.
fn goes_on(base: u32, asked: vec2<u32>) -> vec2<u32> {
	let is = rows[base + at_upper];
	if is >= 0.0 {
		let ticks = rows[base + at_upper + 1u] + 1.0;
		rows[base + at_upper + 1u] = ticks;
		if ticks < tables[act_at(u32(is)) + 4u] {
			return table_tags(act_at(u32(is)));
		}
		rows[base + at_upper] = -1.0;
	}
	if !meets(asked, acts_tags()) || rows[base + at_act] >= 0.0 || long2(get2(base + at_vel)) < upper_speed {
		return vec2<u32>(0u, 0u);
	}
	let a = nearest_act(asked, base + at_state, false);
	if a < 0 {
		return vec2<u32>(0u, 0u);
	}
	let shows = row_tags(base + at_must);
	let stance = vec2<u32>(shows.x & acts_low, shows.y & acts_high);
	if tables[act_at(u32(a)) + 6u] < 0.0 || nearest_act(stance, base + at_state, false) >= 0 {
		return vec2<u32>(0u, 0u);
	}
	rows[base + at_upper] = f32(a);
	rows[base + at_upper + 1u] = 0.0;
	return table_tags(act_at(u32(a)));
}

// read_goal reads a goal: move and face (x and z), turn, speed, tags; must are the tags that count.
fn read_goal(base: u32, goal: u32, must: vec2<u32>) {
	let own = rows[base + at_place + 2u];
	let to = vec2<f32>(goals[goal], goals[goal + 1u]);
	let face = vec2<f32>(goals[goal + 2u], goals[goal + 3u]);
	let turn = goals[goal + 4u];
	let faces = face.x != 0.0 || face.y != 0.0;
	var heading = rows[base + at_heading];
	if rows[base + at_faced] != 0.0 && !faces {
		heading = own;
		rows[base + at_faced] = 0.0;
	}
	var frame = heading;
	var turning_by = 0.0;
	if faces {
		frame = own;
		rows[base + at_faced] = 1.0;
		heading = wrap(own + angle(face.x, face.y));
	} else if turn != 0.0 {
		turning_by = turn * max_turn;
		heading = wrap(own + clamp(wrap(heading - own) + turning_by * tick, -leash, leash));
		frame = heading;
	}
	rows[base + at_heading] = heading;
	put2(base + at_wish, turned(to, frame) * pace_of(goals[goal + 6u], must));
	rows[base + at_wish_turn] = turning_by;
	rows[base + at_wish_facing] = heading;
}

// walks reports whether an agent goes ahead or backward, or begins to, as fast as one walks.
fn walks(base: u32, velocity: vec2<f32>, facing: f32, now_at: f32) -> bool {
	let speed = long2(velocity);
	let along = dot(velocity, ahead_of(facing));
	if none(walk_tags()) || speed < 0.2 || abs(along) < 0.7 * speed {
		return false;
	}
	let most = select(walk_ahead, walk_back, along < 0.0);
	return speed <= most && now_at <= 1.1 * most;
}

// end_act ends a row's action that is nearly over, if it is to stand in a stance with idles.
fn end_act(base: u32, wish: vec2<u32>, rests: bool, stands: bool) {
	var must = wish;
	if rests {
		must = idle_tags();
	} else if !shown(base, must) {
		return;
	}
	let a = rows[base + at_act];
	if a < 0.0 || !stands || rows[base + at_left] > min(rest_out, floor(tables[act_at(u32(a)) + 4u] / 4.0)) {
		return;
	}
	let i = nearest_idle(must, base + at_state, false, endless);
	if i >= 0 {
		rows[base + at_act] = -1.0;
		put_tags(base + at_must, must);
		stay(base, i);
		rows[base + at_restart] = 1.0;
	}
}

// settle begins to play the nearest idle of the row's stance.
fn settle(base: u32) {
	let must = row_tags(base + at_must);
	let near_only = same(must, idle_tags()) && rows[base + at_rest_at] < rest_waits;
	let i = nearest_idle(must, base + at_state, false, select(endless, rest_near, near_only));
	if i >= 0 {
		stay(base, i);
	}
}

@compute @workgroup_size(64)
fn plan(@builtin(global_invocation_id) id: vec3<u32>) {
	let goal = id.x * goal_size;
	if goals[goal + 5u] == 0.0 {
		return;
	}
	let base = id.x * row_size;
	var must = tags_of(goals[goal + pace_from], goals[goal + pace_from + 1u], goals[goal + pace_from + 2u], goals[goal + pace_from + 3u]);
	if meets(must, goes_on(base, must)) {
		let shows = row_tags(base + at_must);
		must = vec2<u32>(shows.x & acts_low, shows.y & acts_high);
	}
	read_goal(base, goal, must);
	if rows[base + at_rest] >= 0.0 && feet_of(base + at_state).y > rest_behind { // it gets up before it goes
		put2(base + at_wish, vec2<f32>(0.0));
		rows[base + at_wish_turn] = 0.0;
		rows[base + at_wish_facing] = rows[base + at_body + 2u];
	}
	let velocity = get2(base + at_wish);
	let facing = rows[base + at_wish_facing];
	let own = rows[base + at_place + 2u];
	let b = stepped(body_of(base), velocity, facing, tick, decay_velocity, decay_facing);
	put_body(base, b);
	let stands = velocity.x == 0.0 && velocity.y == 0.0 && rows[base + at_wish_turn] == 0.0 && long2(b.vel) < 0.05 && abs(b.spin) < 0.1 &&
		abs(wrap(facing - b.yaw)) < 0.1 && abs(wrap(own - b.yaw)) < 0.1;
	let rests = stands && !none(idle_tags()) && none(must);
	let walking = !stands && none(must) && walks(base, velocity, facing, long2(b.vel));
	let since = rows[base + at_since] + 1.0;
	rows[base + at_since] = since;
	rows[base + at_wait] -= 1.0;
	let changed = long2(get2(base + at_asked) - velocity) > asked_velocity || abs(wrap(rows[base + at_facing] - facing)) > asked_facing;
	var due = rows[base + at_wait] < 0.0 || (changed && since > 1.0);

	end_act(base, must, rests, stands);
	let a = rows[base + at_act];
	if a < 0.0 {
		if rests {
			must = idle_tags();
		} else if walking {
			must = walk_tags();
		}
	}
	let asked = shown(base, must);
	if a < 0.0 {
		due = due || !asked;
	} else if (rows[base + at_left] > 0.0 && (asked || none(must))) || (asked && tables[act_at(u32(a)) + 5u] != 0.0) {
		due = false;
		rows[base + at_wait] = max(rows[base + at_wait], 0.0);
	} else {
		due = true;
	}
	if !stands || a >= 0.0 {
		rows[base + at_rest] = -1.0;
		rows[base + at_rest_at] = 0.0;
	} else if !asked {
		if rows[base + at_rest] >= 0.0 {
			rows[base + at_rest] = -1.0;
			rows[base + at_rest_at] = 0.0;
		}
	} else if rows[base + at_rest] < 0.0 {
		let waits = min(rows[base + at_rest_at] + 1.0, rest_waits + 1.0);
		rows[base + at_rest_at] = waits;
		if rows[base + at_ago] == again || waits > rest_waits {
			settle(base);
		}
	}
	if rows[base + at_rest] >= 0.0 {
		due = false;
		rows[base + at_wait] = max(rows[base + at_wait], 0.0);
	}
	put_tags(base + at_wish_must, must);
	rows[base + at_stands] = select(0.0, 1.0, stands);
	rows[base + at_due] = select(0.0, 1.0, due);
	if due {
		ask(base, net_place(projector_in) + id.x * query_size, b, must);
	}
}

// normal returns a feature, normalised.
fn normal(v: f32, c: u32) -> f32 {
	return (v - tables[means + c]) * tables[scales + c];
}

// ask writes a row's query.
fn ask(base: u32, query: u32, now_at: Body, must: vec2<u32>) {
	let velocity = get2(base + at_wish);
	let facing = rows[base + at_wish_facing];
	let turn = rows[base + at_wish_turn];
	let place = get2(base + at_place);
	let own = rows[base + at_place + 2u];
	for (var c = 0u; c < feature_count; c++) {
		net[query + c] = rows[base + at_state + c];
	}
	for (var i = 0u; i < tag_count; i++) {
		net[query + feature_count + i] = f32((select(must.x, must.y, i >= 32u) >> (i % 32u)) & 1u);
	}
	rows[base + at_wait] = f32(search_every) - 1.0;
	rows[base + at_since] = 0.0;
	put2(base + at_asked, velocity);
	rows[base + at_facing] = facing;
	let way = 6u * feet_count + 3u;
	var b = now_at;
	for (var i = 0u; i < 6u; i++) {
		let t = (f32(i) + 0.5) * far_seconds;
		b = stepped(b, turned(velocity, turn * t), facing + turn * t, far_seconds, decay_velocity_far, decay_facing_far);
		if i == 0u && dot(velocity, now_at.vel) >= 0.0 { // it does not turn round
			let soon = turned(b.vel - now_at.vel, -own) * lead;
			let c = 6u * feet_count;
			net[query + c] += soon.x * tables[scales + c];
			net[query + c + 2u] += soon.y * tables[scales + c + 2u];
		}
		if i % 2u == 1u {
			let p = turned(b.place - place, -own);
			let d = ahead_of(b.yaw - own);
			let c = way + i - 1u;
			net[query + c] = normal(p.x, c);
			net[query + c + 1u] = normal(p.y, c + 1u);
			net[query + c + 6u] = normal(d.x, c + 6u);
			net[query + c + 7u] = normal(d.y, c + 7u);
		}
	}
}

// feet_of returns the middle of the feet over the ground in the state of a row, seen from the root, and idle_feet in that of a table.
fn foot_place(v: f32, c: u32) -> f32 {
	if tables[scales + c] == 0.0 {
		return tables[means + c];
	}
	return tables[means + c] + v / tables[scales + c];
}

fn feet_of(row: u32) -> vec2<f32> {
	var sum = vec2<f32>();
	for (var leg = 0u; leg < feet_count; leg++) {
		let c = 3u * leg;
		sum += vec2<f32>(foot_place(rows[row + c], c), foot_place(rows[row + c + 2u], c + 2u)) * (1.0 / f32(feet_count));
	}
	return sum;
}

fn table_feet(table: u32) -> vec2<f32> {
	var sum = vec2<f32>();
	for (var leg = 0u; leg < feet_count; leg++) {
		let c = 3u * leg;
		sum += vec2<f32>(foot_place(tables[table + c], c), foot_place(tables[table + c + 2u], c + 2u)) * (1.0 / f32(feet_count));
	}
	return sum;
}

// nearest_act returns the action with some tags whose beginning is nearest to features of a row, or of a query in the network's memory, or −1.
fn nearest_act(must: vec2<u32>, features: u32, asks: bool) -> i32 {
	var best = -1;
	if none(must) {
		return best;
	}
	var least = endless;
	for (var i = 0u; i < act_count; i++) {
		let t = table_tags(act_at(i));
		if same(vec2<u32>(t.x & must.x, t.y & must.y), must) {
			var c = 0.0;
			if asks {
				c = cost_asked(features, act_at(i) + 7u, feature_count);
			} else {
				c = cost_of(features, act_at(i) + 7u, feature_count);
			}
			if c < least {
				best = i32(i);
				least = c;
			}
		}
	}
	return best;
}

// begin_act lets a row begin an action or an idle that its query is nearest to, and reports whether it does.
fn begin_act(base: u32, query: u32, must: vec2<u32>) -> bool {
	let a = nearest_act(must, query, true);
	if a >= 0 {
		for (var k = 0u; k < state_size; k++) {
			rows[base + at_state + k] = tables[act_at(u32(a)) + 7u + k];
		}
		rows[base + at_act] = f32(a);
		rows[base + at_left] = tables[act_at(u32(a)) + 4u];
		put_tags(base + at_must, must);
		rows[base + at_restart] = 1.0;
		return true;
	}
	let is = row_tags(base + at_must);
	if rows[base + at_stands] != 0.0 && !same(must, is) && (!same(must, idle_tags()) || (rows[base + at_act] < 0.0 && meets(is, acts_tags()))) {
		let i = nearest_idle(must, query, true, endless);
		if i >= 0 {
			let there = idle_at(u32(i)) + 4u;
			rows[base + at_act] = -1.0;
			rows[base + at_left] = 0.0;
			put_tags(base + at_must, must);
			stay(base, i);
			if long2(feet_of(base + at_state) - table_feet(there)) <= rest_sits {
				for (var k = 0u; k < state_size; k++) {
					rows[base + at_state + k] = tables[there + k];
				}
				rows[base + at_restart] = 1.0;
			}
			return true;
		}
	}
	return false;
}

@compute @workgroup_size(64)
fn choose(@builtin(global_invocation_id) id: vec3<u32>) {
	if goals[id.x * goal_size + 5u] == 0.0 {
		return;
	}
	let base = id.x * row_size;
	if rows[base + at_due] == 0.0 {
		return;
	}
	let query = net_place(projector_in) + id.x * query_size;
	let answer = net_place(projector_out) + id.x * state_size;
	let state = base + at_state;
	let must = row_tags(base + at_wish_must);
	if begin_act(base, query, must) {
		return;
	}
	var to_rest = false;
	if rows[base + at_act] < 0.0 && shown(base, must) {
		let ago = rows[base + at_ago];
		let way = 6u * feet_count + 3u;
		let is = cost_row(query, state, feature_count);
		let to = cost_net(answer, query, feature_count);
		let back = ago < again && cost_row(answer, base + at_jumped, feature_count) < 0.25 * cost_row(answer, state, feature_count);
		let nearer = to < is - stay_cost;
		let off = cost_row(answer, state, way) > stay_cost;
		let astray = off && ago >= calm && cost_row(query + way, state + way, feature_count - way) < 1.0;
		let made = off && ago >= calm / 2.0 && is < 50.0 && to > 1.5 * is + 2.0;
		if back || !(nearer || astray || made) {
			if ago < again || is < 50.0 {
				return;
			}
			to_rest = true;
		}
	}
	for (var k = 0u; k < state_size; k++) {
		var v = net[answer + k];
		if to_rest {
			v = tables[stands_state + k];
		}
		if k < feature_count {
			rows[base + at_jumped + k] = v;
		}
		rows[state + k] = max(tables[leasts + k], min(tables[mosts + k], v));
	}
	rows[base + at_ago] = 0.0;
	if rows[base + at_act] >= 0.0 {
		rows[base + at_act] = -1.0;
		rows[base + at_left] = 0.0;
		rows[base + at_rest] = -1.0;
		rows[base + at_rest_at] = rest_waits;
		put_seed(base, 0u);
		rows[base + at_was] = 0.0;
		rows[base + at_soon] = 0.0;
	}
	put_tags(base + at_must, must);
	rows[base + at_restart] = 1.0;
}

@compute @workgroup_size(64)
fn feed_stepper(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) thread: u32) {
	if goals[group.x * goal_size + 5u] == 0.0 {
		return;
	}
	for (var k = thread; k < state_size; k += 64u) {
		net[net_place(stepper_in) + group.x * state_size + k] = rows[group.x * row_size + at_state + k];
	}
}

@compute @workgroup_size(64)
fn feed_decompressor(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) thread: u32) {
	if goals[group.x * goal_size + 5u] == 0.0 {
		return;
	}
	for (var k = thread; k < state_size; k += 64u) {
		net[net_place(decompressor_in) + group.x * state_size + k] = rows[group.x * row_size + at_state + k];
	}
}

// go_on moves a root by its motion, X, Z and yaw.
fn go_on(base: u32, m: vec3<f32>) {
	let own = rows[base + at_place + 2u];
	put2(base + at_place, get2(base + at_place) + turned(m.xy, own));
	rows[base + at_place + 2u] = wrap(own + m.z);
}

// join draws a root to its simulated body, and the body to the root.
fn join(base: u32, m: vec3<f32>, most: f32) {
	var place = get2(base + at_place);
	var yaw = rows[base + at_place + 2u];
	var body = get2(base + at_body);
	var body_yaw = rows[base + at_body + 2u];
	var by = (body - place) * follow_share;
	let limit = most * long2(m.xy);
	let l = long2(by);
	if l > limit {
		by = by * (limit / l);
	}
	place += by;
	let turn_limit = most * max(abs(m.z), long2(m.xy));
	yaw = wrap(yaw + clamp(follow_share * wrap(body_yaw - yaw), -turn_limit, turn_limit));
	let away = body - place;
	if long2(away) > away_most {
		body = place + away * (away_most / long2(away));
	}
	let turned_by = wrap(body_yaw - yaw);
	if abs(turned_by) > turned_most {
		body_yaw = wrap(yaw + clamp(turned_by, -turned_most, turned_most));
	}
	put2(base + at_place, place);
	rows[base + at_place + 2u] = yaw;
	put2(base + at_body, body);
	rows[base + at_body + 2u] = body_yaw;
}

// next_idle chooses an idle of the same stance, at random, which takes over slowly.
fn next_idle(base: u32) {
	let was = u32(rows[base + at_rest]);
	let stance = table_tags(idle_at(was));
	let seed = (u32(rows[base + at_seed]) | (u32(rows[base + at_seed + 1u]) << 16u)) * 1664525u + 1013904223u;
	put_seed(base, seed);
	var n = 0u;
	for (var i = 0u; i < idle_count; i++) {
		n += select(0u, 1u, same(table_tags(idle_at(i)), stance));
	}
	var left = (seed >> 8u) % max(n, 1u);
	for (var i = 0u; i < idle_count; i++) {
		if same(table_tags(idle_at(i)), stance) {
			if left == 0u {
				rows[base + at_rest] = f32(i);
				rows[base + at_rest_at] = 0.0;
				rows[base + at_was] = f32(was);
				rows[base + at_soon] = 0.0;
				return;
			}
			left--;
		}
	}
}

// play_idle leads the state of a row on by a tick of its idle, and returns the root's motion.
fn play_idle(base: u32) -> vec3<f32> {
	let n = state_size + 3u;
	let at = u32(rows[base + at_rest_at]);
	let a = idle_at(u32(rows[base + at_rest])) + 4u + (at / idle_ticks) * n;
	let between_a = f32(at % idle_ticks) / f32(idle_ticks);
	let begun = min(f32(at) / select(rest_eases, rest_soon, rows[base + at_soon] != 0.0), 1.0);
	var share = rest_share * begun * begun;
	var eased_by = 1.0;
	var w = a;
	var between_w = between_a;
	if rows[base + at_was] >= 0.0 {
		let k = min(rest_ticks - rest_fades + at, rest_ticks - 1u);
		w = idle_at(u32(rows[base + at_was])) + 4u + (k / idle_ticks) * n;
		between_w = f32(k % idle_ticks) / f32(idle_ticks);
		let u = clamp(f32(at) / f32(rest_fades), 0.0, 1.0);
		share = rest_share;
		eased_by = u * u * (3.0 - 2.0 * u);
	}
	for (var i = 0u; i < state_size; i++) {
		let v = rows[base + at_state + i];
		let before = lerp(tables[w + i], tables[w + n + i], between_w);
		let to = lerp(tables[a + i], tables[a + n + i], between_a);
		rows[base + at_state + i] = v + share * (before + eased_by * (to - before) - v);
	}
	rows[base + at_rest_at] = f32(at + 1u);
	if f32(at + 1u) == 2.0 * rest_soon {
		rows[base + at_soon] = 0.0;
	}
	let last = n - 3u;
	return vec3<f32>(lerp(tables[w + last], tables[a + last], eased_by), lerp(tables[w + last + 1u], tables[a + last + 1u], eased_by),
		lerp(tables[w + last + 2u], tables[a + last + 2u], eased_by));
}

// begins returns the motion of a root whose action has begun.
fn begins(base: u32, m: vec3<f32>) -> vec3<f32> {
	let most = 25.0 * tick * tick;
	let own = rows[base + at_place + 2u];
	let was = turned(get2(base + at_went), -own);
	var by = m.xy - was;
	let l = long2(by);
	if l > most {
		by = by * (most / l);
	}
	put2(base + at_went, turned(was + by, own));
	return vec3<f32>(was + by, m.z);
}

// act_share returns the bound on the root's motion to its body in an action.
fn act_share(base: u32, a: u32) -> f32 {
	var lowest = 0.5;
	for (var leg = 0u; leg < feet_count; leg++) {
		lowest = min(lowest, foot_place(rows[base + at_state + 3u * leg + 1u], 3u * leg + 1u));
	}
	let u = clamp((lowest - 0.1) / (0.5 - 0.1), 0.0, 1.0);
	let aloft = u * u * (3.0 - 2.0 * u);
	let done = 1.0 - rows[base + at_left] / tables[act_at(a) + 4u];
	if !meets(row_tags(base + at_must), jump_tags()) {
		return min(share_most, 0.3) * aloft;
	}
	if done < 0.5 || long2(get2(base + at_vel)) < 0.3 {
		return share_most;
	}
	return share_most * aloft;
}

@compute @workgroup_size(64)
fn advance(@builtin(global_invocation_id) id: vec3<u32>) {
	if goals[id.x * goal_size + 5u] == 0.0 {
		return;
	}
	let base = id.x * row_size;
	let before = get2(base + at_place);
	rows[base + at_ago] = min(rows[base + at_ago] + 1.0, again);
	let a = rows[base + at_act];
	if a >= 0.0 {
		if rows[base + at_left] == 0.0 { // its last pose is held
			join(base, vec3<f32>(), 0.0);
			put2(base + at_went, get2(base + at_place) - before);
			return;
		}
		rows[base + at_left] -= 1.0;
	}
	if rows[base + at_rest] >= 0.0 {
		if u32(rows[base + at_rest_at]) == rest_ticks - rest_fades {
			next_idle(base);
		}
		let soon = rows[base + at_soon] != 0.0;
		let stood = feet_of(base + at_state);
		var m = play_idle(base);
		let by = stood - feet_of(base + at_state);
		if soon && finite(by.x) && finite(by.y) {
			m = vec3<f32>(by, m.z);
		}
		go_on(base, m);
		join(base, vec3<f32>(), 0.0);
		put2(base + at_went, get2(base + at_place) - before);
		return;
	}
	let change = net_place(stepper_out) + id.x * (state_size + 3u);
	var sound = true;
	for (var k = 0u; k < state_size; k++) {
		let v = rows[base + at_state + k] + net[change + k];
		sound = sound && finite(v);
		rows[base + at_state + k] = max(tables[leasts + k], min(tables[mosts + k], v));
	}
	var m = vec3<f32>(net[change + state_size], net[change + state_size + 1u], net[change + state_size + 2u]);
	if !sound || !finite(m.x + m.y + m.z) {
		for (var k = 0u; k < state_size; k++) {
			rows[base + at_state + k] = tables[stands_state + k];
		}
		m = vec3<f32>();
		rows[base + at_restart] = 1.0;
	}
	var begun = false;
	var most = share_most;
	if a >= 0.0 {
		begun = tables[act_at(u32(a)) + 4u] - rows[base + at_left] <= beginning;
		most = act_share(base, u32(a));
	}
	if begun {
		m = begins(base, m);
	}
	go_on(base, m);
	join(base, m, most);
	if !begun {
		put2(base + at_went, get2(base + at_place) - before);
	}
}

@compute @workgroup_size(64)
fn show(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) thread: u32) {
	if goals[group.x * goal_size + 5u] == 0.0 {
		return;
	}
	let y = net_place(decompressor_out) + group.x * pose_size;
	let mine = min(thread, joints - 1u);
	let at = 8u * (group.x * joints + mine);
	if thread == 0u {
		poses[at] = net[y];
		poses[at + 1u] = net[y + 1u];
		poses[at + 2u] = net[y + 2u];
	}
	// From the joint up to one that turns.
	var q = still();
	var k = mine;
	for (var depth = 0u; depth < joints; depth++) {
		let turn = tables[turns + k];
		if turn >= 0.0 {
			let v = y + 3u + 6u * u32(turn);
			let x = unit3(vec3<f32>(net[v], net[v + 1u], net[v + 2u]), vec3<f32>(1.0, 0.0, 0.0));
			let z = unit3(cross(x, vec3<f32>(net[v + 3u], net[v + 4u], net[v + 5u])), vec3<f32>(0.0, 0.0, 1.0));
			q = after(from_axes(x, cross(z, x), z), q);
			break;
		}
		q = after(vec4<f32>(tables[stills + 4u * k], tables[stills + 4u * k + 1u], tables[stills + 4u * k + 2u], tables[stills + 4u * k + 3u]), q);
		k = u32(tables[parents + k]);
	}
	if thread < joints {
		put_rotation(at + 4u, q);
	}
	storageBarrier();
	// The upper body turns as its action turns it from the action's beginning on, and each joint with those above it.
	let base = group.x * row_size;
	let act = rows[base + at_upper];
	var by = still();
	if act >= 0.0 {
		let ticks = rows[base + at_upper + 1u];
		let first = uppers + u32(tables[act_at(u32(act)) + 6u]);
		let here = first + u32(ticks) * above_count * 4u;
		let u = clamp((tables[act_at(u32(act)) + 4u] - 1.0 - ticks) / upper_out, 0.0, 1.0);
		let share = upper_turn * u * u * (3.0 - 2.0 * u);
		k = mine;
		for (var depth = 0u; depth < joints; depth++) {
			let above = tables[aboves + k];
			if above >= 0.0 {
				let i = 4u * u32(above);
				let own = pose4(8u * (group.x * joints + k) + 4u);
				let turn = part(after(reversed(table4(first + i)), table4(here + i)), share);
				by = after(after(after(own, turn), reversed(own)), by);
			}
			let parent = tables[parents + k];
			if parent < 0.0 {
				break;
			}
			k = u32(parent);
		}
	}
	storageBarrier();
	if thread < joints && act >= 0.0 {
		put_rotation(at + 4u, unit4(after(by, q)));
	}
}

fn put_rotation(at: u32, q: vec4<f32>) {
	poses[at] = q.x;
	poses[at + 1u] = q.y;
	poses[at + 2u] = q.z;
	poses[at + 3u] = q.w;
}

fn table4(at: u32) -> vec4<f32> {
	return vec4<f32>(tables[at], tables[at + 1u], tables[at + 2u], tables[at + 3u]);
}

// Where an agent is, for inertialization and for the ground.
fn root_place(base: u32) -> vec2<f32> {
	return get2(base + at_place);
}

fn root_yaw(base: u32) -> f32 {
	return rows[base + at_place + 2u];
}

fn root_ahead(base: u32) -> vec2<f32> {
	return ahead_of(rows[base + at_place + 2u]);
}

fn root_velocity(base: u32) -> vec2<f32> {
	return get2(base + at_went) * (1.0 / tick);
}

fn root_restored(base: u32) -> f32 {
	return 0.0;
}

// jumped reports whether the pose does not continue the one before, and eased that this is known.
fn jumped(base: u32) -> bool {
	return rows[base + at_restart] != 0.0;
}

fn eased(base: u32) {
	rows[base + at_restart] = 0.0;
}
