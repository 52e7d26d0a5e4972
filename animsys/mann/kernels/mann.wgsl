// The controller of a mode-adaptive network: what package mann does with a row before and after its network. A workgroup works on a row,
// whose state lies together. shader.go puts constants and tables before this. The names are those of plan.go, step.go, pose.go, head.go and
// watch.go, where the reasons are.

// The network's output is refused, and the state out of range; what threads found.
var<workgroup> found: array<f32, 64>;

// The place of a row's numbers.
const headings = 0u; // where it means to face
const target_dir = 2u;
const target_vel = 4u;
const correct = 6u;
const pace = 7u;
const lack = 8u;
const lowest_joint = 9u;
const leap = 10u;
const restored = 11u;
const age = 12u;
const along = 13u;
const action_now = 14u; // chosen by plan
const ramp_now = 15u;   // seconds
const gain_now = 16u;
const moved = 17u;      // by scatter: x, z, sine, cosine
const over_ground = 21u;
const verdict = 22u;    // 0: go on; 1: stop in the present pose; 2: in a remembered one; 3: in the rest pose
const positions = 24u;
const directions = positions + 2u * points;
const velocities = directions + 2u * points;
const speeds = velocities + 2u * points;
const weights = speeds + points;
const bone_pos = weights + points * actions;
const bone_fwd = bone_pos + 3u * joints;
const bone_up = bone_fwd + 3u * joints;
const bone_vel = bone_up + 3u * joints;
const phase = bone_vel + 3u * joints;
const hips = phase + phases;
const rotations = hips + 3u; // local
const good = rotations + 4u * joints;
const bones_size = 12u * joints + phases;
const pose_size = bones_size + actions; // of a remembered pose
const row_size = good + 2u * pose_size;

// pos_at, dir_at and vel_at return a point of a row's trajectory: x and z.
fn pos_at(base: u32, i: u32) -> vec2<f32> {
	return get2(base + positions + 2u * i);
}

fn dir_at(base: u32, i: u32) -> vec2<f32> {
	return get2(base + directions + 2u * i);
}

fn vel_at(base: u32, i: u32) -> vec2<f32> {
	return get2(base + velocities + 2u * i);
}

fn some(v: vec2<f32>) -> bool {
	return v.x != 0.0 || v.y != 0.0;
}

// weight returns the present weight of an action's column; none is −1.
fn weight(base: u32, column: i32) -> f32 {
	if column < 0 {
		return 0.0;
	}
	return rows[base + weights + now * actions + u32(column)];
}

// into returns a vector of the ground in the axes of a heading, and out_of the inverse.
fn into(fwd: vec2<f32>, v: vec2<f32>) -> vec2<f32> {
	return vec2<f32>(v.x * fwd.y - v.y * fwd.x, v.x * fwd.x + v.y * fwd.y);
}

fn out_of(fwd: vec2<f32>, v: vec2<f32>) -> vec2<f32> {
	return vec2<f32>(v.x * fwd.y + v.y * fwd.x, v.y * fwd.y - v.x * fwd.x);
}

fn angle_to(fwd: vec2<f32>, d: vec2<f32>) -> f32 {
	let l = into(fwd, d);
	return angle(l.x, l.y);
}

// The actions, as package control numbers them.
const idle = 0u;
const walk = 1u;
const jump = 2u;
const sit = 3u;
const lie = 4u;
const stand = 5u;

// curvature returns the total turn of the trajectory as a share of a half turn.
fn curvature(base: u32) -> f32 {
	var sum = 0.0;
	for (var i = 10u; i < points - 10u; i += 10u) {
		let u = pos_at(base, i) - pos_at(base, i - 10u);
		let v = pos_at(base, i + 10u) - pos_at(base, i);
		if min(sqrt(dot(u, u)), sqrt(dot(v, v))) >= 0.02 {
			sum += angle(u.y * v.x - u.x * v.y, dot(u, v));
		}
	}
	return min(abs(sum) / pi, 1.0);
}

// plan decides what a row does: see planRow. A goal is: move (2), turn, speed, action.
fn plan(base: u32, goal: u32) {
	var wish = vec2<f32>(goals[goal], goals[goal + 1u]);
	var turn = goals[goal + 2u];
	var speed = goals[goal + 3u];
	var action = u32(goals[goal + 4u]);
	let low = rows[base + bone_pos + 1u] < 0.85 * rest_height;
	let jumps = weight(base, column_jump);
	if action == jump && low && jumps == 0.0 {
		action = idle;
	}
	// choose
	let velocity = vel_at(base, now);
	let have = sqrt(dot(velocity, velocity));
	var moving = some(wish) || turn != 0.0;
	if action == jump {
		if curvature(base) > max_curvature || rows[base + leap] >= leap_ticks {
			action = walk;
		} else if !moving {
			wish = vec2<f32>(0.0, 1.0);
			moving = true;
		}
	} else if action == sit || action == lie || action == stand {
		wish = vec2<f32>();
		turn = 0.0;
		if have > slow_speed {
			action = walk;
		}
	}
	let going = moving || have > slow_speed;
	if action == idle && going {
		action = walk;
	} else if action == walk && !going {
		action = idle;
	}
	if action == idle && low {
		action = walk;
		wish = vec2<f32>(0.0, 1.0);
		speed = rise_speed;
	} else if some(wish) {
		let way = unit2(wish, wish);
		let l = sqrt(dot(wish, wish));
		var v = way * speed;
		v = vec2<f32>(clamp(v.x, -sideways, sideways), max(v.y, -backward));
		wish = unit2(v, way) * l;
		speed = sqrt(dot(v, v));
	} else if turn != 0.0 {
		wish = vec2<f32>(0.0, 1.0);
		speed = pivot * abs(turn) * max_turn;
	}
	let wants = some(wish) || turn != 0.0;
	let gain = select(share_decay, share_gain, wants);
	speed *= sqrt(dot(wish, wish));
	speed = regulate(base, speed, have, action);
	// face
	let fwd = dir_at(base, now);
	var goal_dir = fwd;
	if !wants {
		put2(base + headings, fwd);
	} else {
		let rate = turn * max_turn;
		var h = turned(get2(base + headings), rate * stride_seconds);
		let off = angle_to(fwd, h);
		if abs(off) > leash {
			h = turned(fwd, clamp(off, -leash, leash));
		}
		h = unit2(h, fwd);
		put2(base + headings, h);
		goal_dir = turned(h, rate);
	}
	let dir = unit2(lerp2(get2(base + target_dir), goal_dir, gain), goal_dir);
	put2(base + target_dir, dir);
	let goal_vel = out_of(dir, unit2(wish, vec2<f32>())) * speed;
	put2(base + target_vel, lerp2(get2(base + target_vel), goal_vel, gain));
	rows[base + correct] = lerp(rows[base + correct], max(min(sqrt(dot(wish, wish)), 1.0), abs(turn)), gain);
	rows[base + action_now] = tables[columns + action];
	var seconds = tables[ramps + action];
	if jumps > 0.0 {
		seconds = min(seconds, tables[ramps + jump]);
	}
	rows[base + ramp_now] = seconds;
	rows[base + gain_now] = gain;
}

// regulate returns the speed to aim for.
fn regulate(base: u32, speed: f32, have: f32, action: u32) -> f32 {
	let want = speed * weight(base, column_move) + jump_speed * weight(base, column_jump);
	if (action != walk && action != jump) || want == 0.0 {
		rows[base + pace] = have;
		rows[base + lack] = 0.0;
		return want;
	}
	let before = rows[base + pace];
	let by = want + (before - want) * select(change_up, change_down, want < before);
	rows[base + pace] = by;
	var lacks = excess(clamp(have, min(by, want), max(by, want)) - have, 0.05 * want);
	let sum = rows[base + lack];
	if lacks * sum < 0.0 {
		lacks *= 3.0;
	}
	let limit = 0.5 * want / speed_i;
	let total = clamp(sum + lacks * stride_seconds, -limit, limit);
	rows[base + lack] = total;
	let ask = want + speed_p * (min(by, want) - have) + speed_i * total;
	return clamp(ask, 0.0, min(1.5 * want, fastest));
}

@compute @workgroup_size(64)
fn prepare(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) thread: u32) {
	let base = group.x * row_size;
	let goal = group.x * goal_size;
	if goals[goal + 5u] == 0.0 {
		return;
	}
	if thread == 0u {
		plan(base, goal);
	}
	storageBarrier();
	// steer and ramp: a thread has a point of the future, the last one the sums of all.
	var action = array<f32, actions>();
	for (var a = 0u; a < actions; a++) {
		action[a] = rows[base + weights + now * actions + a];
	}
	let fwd = dir_at(base, now);
	let to_dir = get2(base + target_dir);
	let to_vel = get2(base + target_vel);
	let by_dir = angle_to(fwd, to_dir);
	let by_vel = angle_to(get2(base + headings), to_dir);
	let desired = sqrt(dot(to_vel, to_vel));
	let wanted = u32(rows[base + action_now]);
	let seconds = rows[base + ramp_now];
	let gain = rows[base + gain_now];
	storageBarrier();
	if thread == 63u {
		var at = pos_at(base, now);
		var before = at;
		var course = turned(to_vel, -by_vel);
		let step = sincos(by_vel / f32(future));
		for (var i = 1u; i <= future; i++) {
			let old = pos_at(base, now + i);
			course = rotate2(course, step);
			at += lerp2(old - before, course * (1.0 / f32(future)), tables[blends + 3u * i]);
			before = old;
			put2(base + positions + 2u * (now + i), at);
		}
	}
	for (var i = thread; i <= future; i += 64u) {
		let k = now + i;
		if i > 0u {
			let left = 1.0 - f32(i) / f32(future);
			let d = dir_at(base, k);
			put2(base + directions + 2u * k, unit2(lerp2(d, turned(to_dir, -by_dir * left), tables[blends + 3u * i + 1u]), d));
			put2(base + velocities + 2u * k, lerp2(vel_at(base, k), turned(to_vel, -by_vel * left), tables[blends + 3u * i + 2u]));
		}
		let ahead = f32(stride) + f32(i) * (rate / f32(future));
		let share = min(ahead * (1.0 / (seconds * rate)) / max(1.0 - action[wanted], 1e-6), 1.0);
		var others = 0.0;
		for (var a = 0u; a < actions; a++) {
			if a != wanted {
				let w = action[a] * (1.0 - share);
				rows[base + weights + k * actions + a] = w;
				others += w;
			}
		}
		rows[base + weights + k * actions + wanted] = max(1.0 - others, 0.0);
		rows[base + speeds + k] = lerp(rows[base + speeds + k], desired, gain);
	}
	storageBarrier();
	if thread == 0u {
		let w = weight(base, column_jump);
		if w > 0.99 {
			rows[base + leap] += f32(stride);
		} else if w == 0.0 {
			rows[base + leap] = 0.0;
		}
	}
	gather(base, net_place(net_in) + group.x * inputs, thread);
}

// gather writes a row's inputs at x.
fn gather(base: u32, x: u32, thread: u32) {
	let at = pos_at(base, now);
	let fwd = dir_at(base, now);
	for (var s = thread; s < samples; s += 64u) {
		let i = min(s * sample_step, points - 1u);
		let c = x + s * sample_size;
		let p = into(fwd, pos_at(base, i) - at);
		let d = into(fwd, dir_at(base, i));
		let v = into(fwd, vel_at(base, i));
		net[c] = p.x;
		net[c + 1u] = p.y;
		net[c + 2u] = d.x;
		net[c + 3u] = d.y;
		net[c + 4u] = v.x;
		net[c + 5u] = v.y;
		if has_speed {
			net[c + 6u] = rows[base + speeds + i];
		}
		for (var a = 0u; a < actions; a++) {
			net[c + sample_size - actions + a] = rows[base + weights + i * actions + a];
		}
	}
	let last_at = pos_at(base, now - stride);
	let last_fwd = dir_at(base, now - stride);
	for (var j = thread; j < joints; j += 64u) {
		let c = x + samples * sample_size + 12u * j;
		let p = get3(base + bone_pos + 3u * j) - vec3<f32>(last_at.x, 0.0, last_at.y);
		put_axes(c, last_fwd, p);
		put_axes(c + 3u, last_fwd, get3(base + bone_fwd + 3u * j));
		put_axes(c + 6u, last_fwd, get3(base + bone_up + 3u * j));
		put_axes(c + 9u, last_fwd, get3(base + bone_vel + 3u * j));
	}
	for (var i = thread; i < phases; i += 64u) {
		net[x + samples * sample_size + 12u * joints + i] = rows[base + phase + i];
	}
}

fn put_axes(c: u32, fwd: vec2<f32>, v: vec3<f32>) {
	let l = into(fwd, v.xz);
	net[c] = l.x;
	net[c + 1u] = v.y;
	net[c + 2u] = l.y;
}

fn axes(fwd: vec2<f32>, v: vec3<f32>) -> vec3<f32> {
	let l = out_of(fwd, v.xz);
	return vec3<f32>(l.x, v.y, l.y);
}

fn net3(at: u32) -> vec3<f32> {
	return vec3<f32>(net[at], net[at + 1u], net[at + 2u]);
}

// backward_by moves count numbers at to from by further on. Both may overlap.
fn backward_by(to: u32, count: u32, by: u32, thread: u32) {
	for (var begin = 0u; begin < count; begin += 64u) {
		let i = begin + thread;
		var v = 0.0;
		if i < count {
			v = rows[to + by + i];
		}
		storageBarrier();
		if i < count {
			rows[to + i] = v;
		}
		storageBarrier();
	}
}

// all_of reports whether a condition holds in all threads.
fn all_of(holds: bool, thread: u32) -> bool {
	workgroupBarrier();
	found[thread] = select(0.0, 1.0, holds);
	workgroupBarrier();
	var n = 0.0;
	for (var i = 0u; i < 64u; i++) {
		n += found[i];
	}
	return n == 64.0;
}

// near reports whether float32 resolves a place.
fn near(p: vec2<f32>) -> bool {
	return abs(p.x) < farthest && abs(p.y) < farthest;
}

// in_range reports whether the network can go on from the state of a row, whose inputs are at x.
fn in_range(base: u32, x: u32, thread: u32) -> bool {
	var ok = near(pos_at(base, now));
	for (var c = thread; c < inputs; c += 64u) {
		let v = net[x + c];
		ok = ok && finite(v) && v >= tables[lows + c] && v <= tables[highs + c];
	}
	var off = 0.0;
	for (var j = thread; j < joints; j += 64u) {
		let p = get3(base + bone_pos + 3u * j);
		ok = ok && p.y >= -buried;
		let parent = tables[parents + j];
		if parent >= 0.0 {
			let d = p - get3(base + bone_pos + 3u * u32(parent));
			off += abs(sqrt(dot(d, d)) - tables[lengths + j]);
		}
	}
	ok = ok && rows[base + bone_pos + 1u] >= -deepest;
	workgroupBarrier();
	found[thread] = off;
	workgroupBarrier();
	var sum = 0.0;
	for (var i = 0u; i < 64u; i++) {
		sum += found[i];
	}
	return all_of(ok && sum <= most_stretched, thread);
}

// lead returns how much further a joint goes than the outputs at y say.
fn lead(base: u32, j: u32, y: u32) -> f32 {
	let tip = tables[legs + j];
	if tip < 0.0 {
		return 0.0;
	}
	let v = vel_at(base, now);
	let fast = clamp((sqrt(dot(v, v)) - lead_slow) / (lead_fast - lead_slow), 0.0, 1.0);
	let swing = lerp(lead_swing, lead_fast_swing, fast);
	let stance = lerp(lead_stance, lead_fast_stance, fast);
	let in_swing = net[y + out_phase + 2u * u32(tip)] / swing_full;
	return weight(base, column_move) * clamp(swing * in_swing, stance, swing);
}

// turn_head turns neck and head back toward where dogs look.
fn turn_head(base: u32) {
	let awake = weight(base, column_move) + weight(base, column_idle);
	if nose < 0 || awake == 0.0 {
		return;
	}
	let head_pos = get3(base + bone_pos + 3u * u32(head));
	let neck_pos = get3(base + bone_pos + 3u * u32(neck));
	let look = get3(base + bone_pos + 3u * u32(nose)) - head_pos;
	let soon = angle_to(dir_at(base, now), dir_at(base, now + head_lead));
	let spine = neck_pos - get3(base + bone_pos);
	let share = awake * share_head * 0.5;
	let yaw = -share * excess(wrap(angle(look.x, look.z) - angle(spine.x, spine.z) - soon), head_free_yaw);
	let up = -share * excess(angle(look.y, sqrt(dot(look.xz, look.xz))) + head_down, head_free_up);
	if yaw == 0.0 && up == 0.0 {
		return;
	}
	let axis = unit3(cross(look, upward()), vec3<f32>(1.0, 0.0, 0.0));
	let q = after(about(upward(), yaw), about(axis, up));
	turn_bones(base, u32(neck), q);
	turn_bones(base, u32(head), q);
}

fn turn_bones(base: u32, j: u32, q: vec4<f32>) {
	let pivot_pos = get3(base + bone_pos + 3u * j);
	for (var k = j; k < u32(tables[ends + j]); k++) {
		put3(base + bone_pos + 3u * k, pivot_pos + rotate(q, get3(base + bone_pos + 3u * k) - pivot_pos));
		put3(base + bone_fwd + 3u * k, rotate(q, get3(base + bone_fwd + 3u * k)));
		put3(base + bone_up + 3u * k, rotate(q, get3(base + bone_up + 3u * k)));
	}
}

// sink decides by how much a row that hangs in the air is lowered.
fn sink(base: u32) {
	rows[base + over_ground] = 0.0;
	if weight(base, column_jump) > 0.05 {
		rows[base + lowest_joint] = 0.0;
		return;
	}
	var low = rows[base + bone_pos + 1u];
	for (var j = 1u; j < joints; j++) {
		low = min(low, rows[base + bone_pos + 3u * j + 1u]);
	}
	let lowest = min(low, lerp(rows[base + lowest_joint], low, share_forget));
	let over = share_sink * (lowest - 0.03);
	rows[base + lowest_joint] = lowest;
	if over > 0.0 {
		rows[base + lowest_joint] = lowest - over;
		rows[base + over_ground] = over;
	}
}

@compute @workgroup_size(64)
fn advance(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) thread: u32) {
	let base = group.x * row_size;
	let goal = group.x * goal_size;
	if goals[goal + 5u] == 0.0 {
		return;
	}
	let x = net_place(net_in) + group.x * inputs;
	let y = net_place(net_out) + group.x * outputs;
	var bounded = true;
	for (var c = thread; c < outputs; c += 64u) {
		let v = net[y + c];
		bounded = bounded && v > -most_output && v < most_output;
	}
	let sound = all_of(bounded, thread);
	let root = pos_at(base, now);
	let fwd = dir_at(base, now);
	let last_at = pos_at(base, now - stride);
	let last_fwd = dir_at(base, now - stride);
	// The past moves back. Without a sound output it is written anew below.
	backward_by(base + positions, 2u * now, select(0u, 2u * stride, sound), thread);
	backward_by(base + directions, 2u * now, select(0u, 2u * stride, sound), thread);
	backward_by(base + velocities, 2u * now, select(0u, 2u * stride, sound), thread);
	backward_by(base + speeds, now, select(0u, stride, sound), thread);
	backward_by(base + weights, actions * now, select(0u, stride * actions, sound), thread);
	if thread == 0u && sound {
		let r = y + out_root;
		let resting = weight(base, column_sit) + weight(base, column_stand) + weight(base, column_lie);
		let scale = stride_seconds * min(sqrt(sqrt(max(1.0 - weight(base, column_idle), 0.0))), sqrt(max(1.0 - resting, 0.0)));
		let s = sincos(net[r + 1u] * scale * (pi / 180.0));
		let shift = out_of(fwd, vec2<f32>(net[r], net[r + 2u])) * scale;
		put2(base + moved, shift);
		put2(base + moved + 2u, s);
		let next = root + shift;
		let next_fwd = unit2(rotate2(fwd, s), fwd);
		put2(base + positions + 2u * now, next);
		put2(base + directions + 2u * now, next_fwd);
		put2(base + velocities + 2u * now, shift * (1.0 / stride_seconds));
		// fillStep
		for (var i = 1u; i < stride; i++) {
			let k = now - stride + i;
			let u = f32(i) / f32(stride);
			put2(base + positions + 2u * k, lerp2(root, next, u));
			put2(base + directions + 2u * k, unit2(lerp2(fwd, next_fwd, u), fwd));
			put2(base + velocities + 2u * k, shift * (1.0 / stride_seconds));
			rows[base + speeds + k] = rows[base + speeds + now];
			for (var a = 0u; a < actions; a++) {
				rows[base + weights + k * actions + a] = rows[base + weights + now * actions + a];
			}
		}
	}
	storageBarrier();
	if sound {
		let shift = get2(base + moved);
		let s = get2(base + moved + 2u);
		let next = pos_at(base, now);
		let next_fwd = dir_at(base, now);
		let share = rows[base + correct];
		for (var i = now + 1u + thread; i < points; i += 64u) {
			let n = (i - now) / sample_step;
			let u = f32((i - now) % sample_step) / f32(sample_step);
			let lo = y + 6u * n;
			let hi = y + 6u * min(n + 1u, future_samples - 1u);
			let place = lerp2(out_of(next_fwd, vec2<f32>(net[lo], net[lo + 1u])), out_of(next_fwd, vec2<f32>(net[hi], net[hi + 1u])), u);
			let dir = lerp2(out_of(next_fwd, vec2<f32>(net[lo + 2u], net[lo + 3u])), out_of(next_fwd, vec2<f32>(net[hi + 2u], net[hi + 3u])), u);
			let vel = lerp2(out_of(next_fwd, vec2<f32>(net[lo + 4u], net[lo + 5u])), out_of(next_fwd, vec2<f32>(net[hi + 4u], net[hi + 5u])), u);
			let was = pos_at(base, i);
			let pos = lerp2(was + vel * stride_seconds, next + place, 0.5);
			put2(base + positions + 2u * i, lerp2(was + shift, pos, share));
			let d = rotate2(dir_at(base, i), s);
			put2(base + directions + 2u * i, unit2(lerp2(d, unit2(dir, d), share), d));
			put2(base + velocities + 2u * i, lerp2(vel_at(base, i), vel, share));
		}
		for (var j = thread; j < joints; j += 64u) {
			let b = y + out_bone + 12u * j;
			let prev = get3(base + bone_pos + 3u * j);
			var p = net3(b);
			var f = net3(b + 3u);
			var u = net3(b + 6u);
			let by = lead(base, j, y);
			if by > 0.0 {
				p += (p - in_axes(last_fwd, prev - vec3<f32>(last_at.x, 0.0, last_at.y))) * by;
				f += (f - in_axes(last_fwd, get3(base + bone_fwd + 3u * j))) * by;
				u += (u - in_axes(last_fwd, get3(base + bone_up + 3u * j))) * by;
			}
			let v = axes(fwd, net3(b + 9u));
			let to = axes(fwd, p) + vec3<f32>(root.x, 0.0, root.y);
			put3(base + bone_pos + 3u * j, lerp3(prev + v * stride_seconds, to, 0.5));
			put3(base + bone_fwd + 3u * j, unit3(axes(fwd, f), vec3<f32>(0.0, 0.0, 1.0)));
			put3(base + bone_up + 3u * j, unit3(axes(fwd, u), upward()));
			put3(base + bone_vel + 3u * j, v);
		}
		for (var i = 2u * thread; i < phases; i += 128u) {
			var v = vec2<f32>(net[y + out_phase + i], net[y + out_phase + i + 1u]);
			let l = sqrt(dot(v, v));
			if l > max_phase {
				v *= max_phase / l;
			}
			put2(base + phase + i, v);
		}
	}
	storageBarrier();
	if thread == 0u && sound {
		turn_head(base);
		sink(base);
	}
	storageBarrier();
	if sound {
		let over = rows[base + over_ground];
		for (var j = thread; j < joints; j += 64u) {
			rows[base + bone_pos + 3u * j + 1u] -= over;
		}
	}
	storageBarrier();
	gather(base, x, thread);
	storageBarrier();
	let fine = in_range(base, x, thread);
	if thread == 0u {
		let had = rows[base + age];
		if sound && fine {
			rows[base + verdict] = 0.0;
		} else if rows[base + restored] > 0.0 && had < memory_ticks {
			rows[base + verdict] = 3.0;
		} else {
			rows[base + verdict] = select(2.0, 1.0, fine);
		}
	}
	storageBarrier();
	let what = rows[base + verdict];
	let had = rows[base + age];
	let slots = floor(had / memory_ticks);
	storageBarrier();
	if what == 0.0 {
		var grown = had + f32(stride);
		if grown > 8e6 {
			grown -= 65536.0 * 2.0 * memory_ticks; // float32 counts on
		}
		if floor(grown / memory_ticks) != slots {
			remember(base, x, u32(floor(grown / memory_ticks)) % 2u, thread);
		}
		if thread == 0u {
			rows[base + age] = grown;
		}
	} else {
		restore(base, root, fwd, what, good + pose_size * ((u32(slots) + 1u) % 2u), thread);
	}
	storageBarrier();
	if what != 0.0 {
		gather(base, x, thread);
	}
	storageBarrier();
	if what != 0.0 {
		remember(base, x, 0u, thread);
		remember(base, x, 1u, thread);
	}
	display(base, group.x * joints * 8u, thread);
}

// in_axes returns a vector of the world in the axes of a heading.
fn in_axes(fwd: vec2<f32>, v: vec3<f32>) -> vec3<f32> {
	let l = into(fwd, v.xz);
	return vec3<f32>(l.x, v.y, l.y);
}

// remember stores the pose in the inputs at x in a slot, as the whole numbers of the processor.
fn remember(base: u32, x: u32, slot: u32, thread: u32) {
	for (var i = thread; i < pose_size; i += 64u) {
		let c = select(samples * sample_size + i, traj_now * sample_size + sample_size - actions + i - bones_size, i >= bones_size);
		rows[base + good + pose_size * slot + i] = round(clamp(net[x + c] * units, -32767.0, 32767.0));
	}
}

// restore stops a row at a root: in its present pose, in a remembered one, or in the rest pose.
fn restore(base: u32, root: vec2<f32>, fwd: vec2<f32>, what: f32, pose: u32, thread: u32) {
	var at = root;
	var ahead = fwd;
	if !(near(at) && finite(at.x) && finite(at.y) && finite(ahead.x) && finite(ahead.y)) {
		at = vec2<f32>();
		ahead = vec2<f32>(0.0, 1.0);
		let shown = vec2<f32>(rows[base + hips], rows[base + hips + 2u]);
		if near(shown) {
			at = shown;
		}
	}
	var action = array<f32, actions>();
	for (var a = 0u; a < actions; a++) {
		if what == 3.0 {
			action[a] = select(0.0, 1.0, i32(a) == column_idle);
		} else if what == 1.0 {
			action[a] = rows[base + weights + now * actions + a]; // which nobody writes then
		} else {
			action[a] = rows[base + pose + bones_size + a] / units;
		}
	}
	for (var i = thread; i < points; i += 64u) {
		put2(base + positions + 2u * i, at);
		put2(base + directions + 2u * i, ahead);
		put2(base + velocities + 2u * i, vec2<f32>());
		rows[base + speeds + i] = 0.0;
		for (var a = 0u; a < actions; a++) {
			if what != 1.0 || i != now {
				rows[base + weights + i * actions + a] = action[a];
			}
		}
	}
	for (var j = thread; j < joints; j += 64u) {
		if what != 1.0 {
			var b = array<f32, 9>();
			for (var c = 0u; c < 9u; c++) {
				b[c] = select(tables[rests + 12u * j + c], rows[base + pose + 12u * j + c] / units, what == 2.0);
			}
			put3(base + bone_pos + 3u * j, axes(ahead, vec3<f32>(b[0], b[1], b[2])) + vec3<f32>(at.x, 0.0, at.y));
			put3(base + bone_fwd + 3u * j, unit3(axes(ahead, vec3<f32>(b[3], b[4], b[5])), vec3<f32>(0.0, 0.0, 1.0)));
			put3(base + bone_up + 3u * j, unit3(axes(ahead, vec3<f32>(b[6], b[7], b[8])), upward()));
		}
		put3(base + bone_vel + 3u * j, vec3<f32>());
	}
	if what != 1.0 {
		for (var i = thread; i < phases; i += 64u) {
			rows[base + phase + i] = select(tables[rests + 12u * joints + i], rows[base + pose + 12u * joints + i] / units, what == 2.0);
		}
	}
	if thread == 0u {
		let times = rows[base + restored] + 1.0;
		for (var i = 0u; i < positions; i++) {
			rows[base + i] = 0.0;
		}
		put2(base + headings, ahead);
		put2(base + target_dir, ahead);
		rows[base + restored] = times;
	}
}

// display derives the pose that is shown: parents first, all joints of a depth at once. The place of a joint and its rotation go to
// poses, in world space on flat ground.
fn display(base: u32, pose: u32, thread: u32) {
	storageBarrier();
	for (var level = 0u; level < levels; level++) {
		for (var i = u32(tables[level_ends + level]) + thread; i < u32(tables[level_ends + level + 1u]); i += 64u) {
			show(base, pose, u32(tables[order + i]));
		}
		storageBarrier();
	}
	let h = rows[base + bone_pos + 1u];
	let at = max(h, lowest_hips);
	let by = pressed(at) - at;
	if thread == 0u {
		put3(base + hips, vec3<f32>(rows[base + bone_pos], at + by, rows[base + bone_pos + 2u]));
	}
	for (var j = thread; j < joints; j += 64u) {
		poses[pose + 8u * j + 1u] += by;
	}
}

fn pressed(h: f32) -> f32 {
	if ceiling_room <= 0.0 || !(h > bend_height) {
		return h;
	}
	return bend_height + ceiling_room * (1.0 - power_of_e((bend_height - h) / ceiling_room));
}

fn show(base: u32, pose: u32, j: u32) {
	let parent = tables[parents + j];
	let above = pose + 8u * u32(max(parent, 0.0));
	var place = get3(base + bone_pos);
	place.y = max(place.y, lowest_hips);
	var up = still();
	if parent >= 0.0 {
		up = pose4(above + 4u);
		place = pose3(above) + rotate(up, table3(offsets + 3u * j));
	}
	var rot = up;
	var local = still();
	if tables[sites + j] == 0.0 {
		rot = looking(get3(base + bone_fwd + 3u * j), get3(base + bone_up + 3u * j));
		let first = u32(tables[aim_ends + j]);
		let end = u32(tables[aim_ends + j + 1u]);
		if end - first == 1u {
			rot = unit4(after(swing(base, place, rot, j, u32(tables[aims + first])), rot));
		} else if end > first {
			var mean = vec3<f32>();
			for (var i = first; i < end; i++) {
				mean += turn_of(swing(base, place, rot, j, u32(tables[aims + i])));
			}
			rot = unit4(after(turning(mean * (1.0 / f32(end - first))), rot));
		}
		local = rot;
		if parent >= 0.0 {
			local = unit4(after(reversed(up), rot));
		}
	}
	let at = pose + 8u * j;
	poses[at] = place.x;
	poses[at + 1u] = place.y;
	poses[at + 2u] = place.z;
	poses[at + 3u] = 0.0;
	poses[at + 4u] = rot.x;
	poses[at + 5u] = rot.y;
	poses[at + 6u] = rot.z;
	poses[at + 7u] = rot.w;
	rows[base + rotations + 4u * j] = local.x;
	rows[base + rotations + 4u * j + 1u] = local.y;
	rows[base + rotations + 4u * j + 2u] = local.z;
	rows[base + rotations + 4u * j + 3u] = local.w;
}

// swing returns the rotation that points the bone from joint j to its child c at where c was predicted.
fn swing(base: u32, place: vec3<f32>, rot: vec4<f32>, j: u32, c: u32) -> vec4<f32> {
	let have = rotate(rot, table3(bones + 3u * c));
	let child = get3(base + bone_pos + 3u * c);
	let there = child - place;
	let trust = clamp((sqrt(dot(there, there)) / tables[lengths + c] - 0.25) / 0.25, 0.0, 1.0);
	let own = child - get3(base + bone_pos + 3u * j);
	return between(have, unit3(lerp3(unit3(own, have), unit3(there, have), trust), have));
}

// Where an agent is, for resident: place, heading and velocity over the ground, and how often it went back to a good pose.
fn root_place(base: u32) -> vec2<f32> {
	return pos_at(base, now);
}

fn root_ahead(base: u32) -> vec2<f32> {
	return dir_at(base, now);
}

fn root_velocity(base: u32) -> vec2<f32> {
	return vel_at(base, now);
}

fn root_restored(base: u32) -> f32 {
	return rows[base + restored];
}
