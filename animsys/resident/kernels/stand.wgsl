// Puts flat poses on the ground: what ik.Legged does with an agent of which it remembers nothing, with its foot lock off. So there is no
// lock, no easing over time and no bound on accelerations. The names are those of package ik, where the reasons are. A workgroup works on
// an agent, a thread has a joint, and later a leg. device.go puts constants before this.

var<workgroup> tips: array<vec4<f32>, 8>;   // of legs: the tip's place, and how much the body must help
var<workgroup> ankles: array<vec4<f32>, 8>; // the ankle's place, and the share of its length that the leg uses freely
var<workgroup> feet: array<vec4<f32>, 8>;   // the foot's rotation
var<workgroup> bends: array<vec4<f32>, 8>;  // normal of the leg's plane in the hip's frame, and to what share it folds
var<workgroup> depths: array<f32, 8>;
var<workgroup> wishes: array<f32, 8>; // how far the body should sink for a leg, and
var<workgroup> rooms: array<f32, 8>;  // may
var<workgroup> unders: array<f32, 8>; // height of the ground under places of the body
var<workgroup> sinks: array<f32, 2>;

const trunk_share = 0.5;
const ground_window = 0.5;
const tip_height = 0.004;
const least_tip_height = 0.003;
const sole_fade = 0.1;
const soft_reach = 0.93;
const least_reach = 0.25;
const longest_reach = 0.985;
const upper_share = 0.25;
const fall_depth = 0.3;
const wall_height = 0.5;
const sunk_depth = 0.02;
const tail_sweep = 0.0833333;
const tiny = 1e-6;
const hinge_sine = 0.15;
const bend_full_sine = 0.5;

fn field_columns() -> u32 {
	return u32(scene[field_nx]);
}

fn field_lines() -> u32 {
	return u32(scene[field_nz]);
}

// height_at returns the height of the field at (x, z): see terrain.Field.
fn height_at(x: f32, z: f32) -> f32 {
	let u = clamp((x - scene[field_x]) / scene[field_cell], 0.0, f32(field_columns() - 1u));
	let v = clamp((z - scene[field_z]) / scene[field_cell], 0.0, f32(field_lines() - 1u));
	let i = min(u32(u), field_columns() - 2u);
	let k = min(u32(v), field_lines() - 2u);
	let n = heights + k * field_columns() + i;
	let a = lerp(scene[n], scene[n + 1u], u - f32(i));
	let b = lerp(scene[n + field_columns()], scene[n + field_columns() + 1u], u - f32(i));
	return lerp(a, b, v - f32(k));
}

// slope_of returns the slopes at a node.
fn slope_of(i: u32, k: u32) -> vec2<f32> {
	let i0 = max(i, 1u) - 1u;
	let i1 = min(i + 1u, field_columns() - 1u);
	let k0 = max(k, 1u) - 1u;
	let k1 = min(k + 1u, field_lines() - 1u);
	return vec2<f32>((scene[heights + k * field_columns() + i1] - scene[heights + k * field_columns() + i0]) / (f32(i1 - i0) * scene[field_cell]),
		(scene[heights + k1 * field_columns() + i] - scene[heights + k0 * field_columns() + i]) / (f32(k1 - k0) * scene[field_cell]));
}

// slope_at returns the change of height along x and z.
fn slope_at(x: f32, z: f32) -> vec2<f32> {
	let u = clamp((x - scene[field_x]) / scene[field_cell], 0.0, f32(field_columns() - 1u));
	let v = clamp((z - scene[field_z]) / scene[field_cell], 0.0, f32(field_lines() - 1u));
	let i = min(u32(u), field_columns() - 2u);
	let k = min(u32(v), field_lines() - 2u);
	let a = lerp2(slope_of(i, k), slope_of(i + 1u, k), u - f32(i));
	let b = lerp2(slope_of(i, k + 1u), slope_of(i + 1u, k + 1u), u - f32(i));
	return lerp2(a, b, v - f32(k));
}

// reach_at returns the heights of the lowest and of the highest ground that is in reach. Middle is where the body is: x, the height of the
// floor there, z.
fn reach_at(middle: vec3<f32>, x: f32, z: f32) -> vec2<f32> {
	let d = vec2<f32>(x - middle.x, z - middle.z);
	let way = sqrt(dot(d, d));
	return vec2<f32>(middle.y - fall_depth - way, middle.y + max(wall_height, way));
}

// ground_at returns the height on which tips stand.
fn ground_at(middle: vec3<f32>, x: f32, z: f32) -> f32 {
	let y = height_at(x, z);
	let reach = reach_at(middle, x, z);
	return select(max(y, reach.x), middle.y, y > reach.y) + sole;
}

fn mean_ground(middle: vec3<f32>, p: vec3<f32>, ahead: vec2<f32>) -> f32 {
	var sum = 0.0;
	for (var i = 0u; i < 5u; i++) {
		let d = ground_window * (f32(i) / 4.0 - 0.5);
		let x = p.x + d * ahead.x;
		let z = p.z + d * ahead.y;
		let y = height_at(x, z);
		let reach = reach_at(middle, x, z);
		sum += select(y, middle.y, y < reach.x || y > reach.y);
	}
	return sum / 5.0 + sole;
}

fn length3(v: vec3<f32>) -> f32 {
	return sqrt(dot(v, v));
}

fn place_of(pose: u32, j: u32) -> vec3<f32> {
	return pose3(pose + 8u * j);
}

fn rotation_of(pose: u32, j: u32) -> vec4<f32> {
	return pose4(pose + 8u * j + 4u);
}

fn put_joint(pose: u32, j: u32, p: vec3<f32>, q: vec4<f32>) {
	let at = pose + 8u * j;
	poses[at] = p.x;
	poses[at + 1u] = p.y;
	poses[at + 2u] = p.z;
	poses[at + 4u] = q.x;
	poses[at + 5u] = q.y;
	poses[at + 6u] = q.z;
	poses[at + 7u] = q.w;
}

// towards returns the share w of the shortest rotation about a place from one point to another.
fn towards(pivot_at: vec3<f32>, from_at: vec3<f32>, to_at: vec3<f32>, w: f32) -> vec4<f32> {
	let a = from_at - pivot_at;
	let b = to_at - pivot_at;
	let la = length3(a);
	let lb = length3(b);
	if !(la > tiny && lb > tiny) || !finite(la) || !finite(lb) {
		return still();
	}
	return part(between(a * (1.0 / la), b * (1.0 / lb)), w);
}

// turn_joint turns a joint and those below it: one thread does all of them.
fn turn_joint(pose: u32, j: u32, q: vec4<f32>) {
	let center = place_of(pose, j);
	for (var k = j; k < u32(tables[ends + j]); k++) {
		put_joint(pose, k, center + rotate(q, place_of(pose, k) - center), after(q, rotation_of(pose, k)));
	}
}

fn aim(pose: u32, j: u32, from_at: vec3<f32>, to_at: vec3<f32>, w: f32) {
	turn_joint(pose, j, towards(place_of(pose, j), from_at, to_at, w));
}

// turn_all is turn_joint with a thread for each joint; all threads know q.
fn turn_all(pose: u32, j: u32, q: vec4<f32>, thread: u32) {
	let center = place_of(pose, j);
	storageBarrier();
	if thread >= j && thread < u32(tables[ends + j]) {
		put_joint(pose, thread, center + rotate(q, place_of(pose, thread) - center), after(q, rotation_of(pose, thread)));
	}
	storageBarrier();
}

// lift_spine lifts the flat pose, with hips and chest lowered by sinks.
fn lift_spine(pose: u32, thread: u32) {
	let chest = spine_joint(spine_count - 1u);
	let sink_hips = sinks[0];
	let sink_chest = sinks[1];
	var neck_to = place_of(pose, neck_joint);
	neck_to.y += unders[2] - sink_chest;
	var chest_to = place_of(pose, chest);
	chest_to.y += unders[1] - 0.5 * (sink_hips + sink_chest);
	var line = vec3<f32>();
	var line_to = vec3<f32>();
	if has_sides {
		line = place_of(pose, side_left) - place_of(pose, side_right);
		line_to = line + vec3<f32>(0.0, unders[3] - unders[4], 0.0);
	}
	storageBarrier();
	if thread < joints {
		poses[pose + 8u * thread + 1u] += unders[0] - sink_hips;
	}
	storageBarrier();
	if upright {
		return;
	}
	let pelvis = spine_joint(0u);
	turn_all(pose, pelvis, towards(place_of(pose, pelvis), place_of(pose, neck_joint), neck_to, trunk_share), thread);
	for (var i = 1u; i + 1u < spine_count; i++) {
		let j = spine_joint(i);
		turn_all(pose, j, towards(place_of(pose, j), place_of(pose, chest), chest_to, 1.0 / f32(spine_count - 1u - i)), thread);
	}
	turn_all(pose, chest, towards(place_of(pose, chest), place_of(pose, neck_joint), neck_to, 1.0), thread);
	turn_all(pose, chest, towards(vec3<f32>(), line, line_to, trunk_share), thread);
}

fn spine_joint(i: u32) -> u32 {
	return u32(tables[spine + i]);
}

// leg_joint returns a joint of a leg, counted from its tip: 0 tip, 1 ankle, 2 knee, 3 hip, and so on.
fn leg_joint(l: u32, i: u32) -> u32 {
	return u32(tables[chains + u32(tables[chain_ends + l + 1u]) - 1u - i]);
}

// inclined returns a vector as long as d that rises by rise in the direction of heading.
fn inclined(d: vec3<f32>, rise: f32, heading: vec2<f32>) -> vec3<f32> {
	let l = length3(d);
	let y = clamp(rise, -l, l);
	let to = unit2(heading, vec2<f32>(0.0, -1.0)) * sqrt(l * l - y * y);
	return vec3<f32>(to.x, y, to.y);
}

fn plan_leg(pose: u32, l: u32, middle: vec3<f32>) {
	let tip = place_of(pose, leg_joint(l, 0u));
	let ankle = place_of(pose, leg_joint(l, 1u));
	let knee = place_of(pose, leg_joint(l, 2u));
	let hip = place_of(pose, leg_joint(l, 3u));
	let stands = 1.0 - clamp(tip.y / sole_fade, 0.0, 1.0);
	let size = length3(knee - hip) + length3(ankle - knee);
	let extent = length3(ankle - hip) / max(size, tiny);
	let ground = ground_at(middle, tip.x, tip.z);
	let to = vec3<f32>(tip.x, ground + max(tip.y, tip_height), tip.z);
	var slope = slope_at(tip.x, tip.z);
	let steep = sqrt(dot(slope, slope));
	if steep > most_slope {
		slope *= most_slope / steep;
	}
	let lean = part(between(upward(), unit3(vec3<f32>(-slope.x, 1.0, -slope.y), upward())), stands);
	var foot = after(lean, rotation_of(pose, leg_joint(l, 1u)));
	var up = rotate(lean, ankle - tip);
	let y = ground_at(middle, to.x + up.x, to.z + up.z) + clearance - to.y;
	if up.y < y {
		let higher = inclined(up, y, up.xz);
		foot = after(between(unit3(up, upward()), unit3(higher, upward())), foot);
		up = higher;
	}
	let bend = bend_of(pose, l);
	tips[l] = vec4<f32>(to, stands);
	ankles[l] = vec4<f32>(to + up, max(soft_reach, extent));
	feet[l] = foot;
	bends[l] = vec4<f32>(rotate(reversed(rotation_of(pose, leg_joint(l, 3u))), bend), min(least_reach, extent));
	depths[l] = max(-tip.y, 0.0);
}

// bend_of returns the unit normal of the plane in which a leg bends. Nearly straight legs of people, and those that are stretched too far, bend
// toward where foot and hips point.
fn bend_of(pose: u32, l: u32) -> vec3<f32> {
	let tip = place_of(pose, leg_joint(l, 0u));
	let ankle = place_of(pose, leg_joint(l, 1u));
	let knee = place_of(pose, leg_joint(l, 2u));
	let hip = place_of(pose, leg_joint(l, 3u));
	var bend = cross(hip - knee, ankle - knee);
	if upright {
		let size = length3(knee - hip) + length3(ankle - knee);
		bend = bend * (4.0 / max(size * size, tiny));
		var sine = length3(bend);
		let across = unit3(place_of(pose, hips_left) - place_of(pose, hips_right), vec3<f32>(1.0, 0.0, 0.0));
		if dot(bend, across) > 0.0 {
			sine = 0.0;
		}
		let way = unit3(ankle - hip, vec3<f32>(0.0, -1.0, 0.0));
		let to = cross(way, unit3(tip - ankle, vec3<f32>()) + cross(across, upward()));
		if length3(to) > 0.1 {
			let share = clamp((sine - hinge_sine) / (bend_full_sine - hinge_sine), 0.0, 1.0);
			bend = lerp3(unit3(to, bend), unit3(bend, to), share * share * (3.0 - 2.0 * share));
		}
	}
	return unit3(bend, vec3<f32>());
}

// wish_to_sink says how far the body should sink for a leg, and may.
fn wish_to_sink(pose: u32, l: u32, middle: vec3<f32>) {
	let ankle = place_of(pose, leg_joint(l, 1u));
	let knee = place_of(pose, leg_joint(l, 2u));
	let hip = place_of(pose, leg_joint(l, 3u));
	let size = length3(knee - hip) + length3(ankle - knee);
	let reach = ankles[l].w * size;
	let least = bends[l].w * size;
	let d = hip - ankles[l].xyz;
	let flat = sqrt(dot(d.xz, d.xz));
	let sunk = sinks[u32(tables[fores + l])];
	wishes[l] = tips[l].w * (sunk + d.y - sqrt(max(reach * reach - flat * flat, 0.0)));
	var high = hip.y - ground_at(middle, hip.x, hip.z) - clearance;
	if flat < least {
		high = min(high, d.y - sqrt(least * least - flat * flat));
	}
	var room = min(most_drop, sunk + high);
	if depths[l] > sunk_depth {
		room = min(room, sunk_depth - depths[l]);
	}
	rooms[l] = room;
}

fn two_bone(pose: u32, a: u32, b: u32, end: u32, target_at: vec3<f32>, axis: vec3<f32>, least: f32, soft: f32, more: f32) {
	let root = place_of(pose, a);
	let la = length3(place_of(pose, b) - root);
	let lb = length3(place_of(pose, end) - place_of(pose, b));
	if la < tiny || lb < tiny {
		aim(pose, a, place_of(pose, end), target_at, 1.0);
		return;
	}
	var d = length3(target_at - root);
	let to = unit3(target_at - root, unit3(place_of(pose, end) - root, upward()));
	let exact = soft * (la + lb);
	let rest = more * (la + lb);
	if d > exact {
		d = exact + rest * (1.0 - power_of_e((exact - d) / rest));
	}
	let short = least * (la + lb);
	if short > 0.0 && d < 1.2 * short {
		d = short + 0.2 * short * power_of_e((d - 1.2 * short) / (0.2 * short));
	}
	d = max(d, abs(la - lb) + tiny);
	let x = (d * d + (la - lb) * (la + lb)) / (2.0 * d);
	let h = sqrt(max((la - x) * (la + x), 0.0));
	var side = cross(axis, to);
	if length3(side) < 1e-6 * length3(axis) || !(length3(axis) > 0.0) {
		side = place_of(pose, b) - root;
		side -= to * dot(side, to);
	}
	let mid = root + to * x + unit3(side, vec3<f32>()) * h;
	aim(pose, a, place_of(pose, b), mid, 1.0);
	aim(pose, b, place_of(pose, end), root + to * d, 1.0);
}

// raise_knee swings a knee that is too low up about the line from hip to ankle.
fn raise_knee(pose: u32, l: u32, middle: vec3<f32>) {
	let hip = leg_joint(l, 3u);
	let root = place_of(pose, hip);
	let p = place_of(pose, leg_joint(l, 2u));
	let short = ground_at(middle, p.x, p.z) + clearance - p.y;
	if !(short > 0.0) {
		return;
	}
	let axis = unit3(place_of(pose, leg_joint(l, 1u)) - root, upward());
	var out = p - root;
	out -= axis * dot(out, axis);
	let slope = slope_at(p.x, p.z);
	let n = unit3(vec3<f32>(-slope.x, 1.0, -slope.y), upward());
	let x = dot(out, n);
	let y = dot(cross(axis, out), n);
	let top = angle(y, x);
	let a = arc_cosine((x + short * n.y) / max(sqrt(x * x + y * y), tiny));
	var by = wrap(top - a);
	let other = wrap(top + a);
	if abs(other) < abs(by) {
		by = other;
	}
	if abs(by) <= 1e-4 {
		return;
	}
	let q = about(axis, by);
	let to = root + rotate(q, p - root);
	if to.y < p.y && to.y < ground_at(middle, to.x, to.z) {
		return;
	}
	turn_joint(pose, hip, q);
}

fn move_leg(pose: u32, l: u32, middle: vec3<f32>) {
	let ankle = leg_joint(l, 1u);
	let count = u32(tables[chain_ends + l + 1u]) - u32(tables[chain_ends + l]);
	let to = ankles[l].xyz;
	for (var i = count; i > 4u; i--) {
		aim(pose, leg_joint(l, i - 1u), place_of(pose, ankle), to, upper_share);
	}
	let hip = leg_joint(l, 3u);
	let reach = ankles[l].w;
	two_bone(pose, hip, leg_joint(l, 2u), ankle, to, rotate(rotation_of(pose, hip), bends[l].xyz), bends[l].w, reach,
		max(longest_reach - reach, min(0.002, 0.5 * (1.0 - reach))));
	raise_knee(pose, l, middle);
	turn_joint(pose, ankle, after(feet[l], reversed(rotation_of(pose, ankle))));
	let tip = leg_joint(l, 0u);
	if length3(place_of(pose, tip) - tips[l].xyz) > 1e-4 {
		aim(pose, ankle, place_of(pose, tip), tips[l].xyz, 1.0);
		if place_of(pose, tip).y < tips[l].y {
			raise_end(pose, ankle, tip, middle, vec2<f32>());
		}
	}
	let toe = tables[toes + l];
	if toe >= 0.0 {
		var ahead = vec2<f32>();
		if upright {
			ahead = unit2(cross(place_of(pose, hips_left) - place_of(pose, hips_right), upward()).xz, vec2<f32>());
		}
		raise_end(pose, tip, u32(toe), middle, ahead);
	}
}

// raise_end turns a joint up until an end below it is above the ground: in the direction in which it points, and if it points down, ahead.
fn raise_end(pose: u32, j: u32, end: u32, middle: vec3<f32>, ahead: vec2<f32>) {
	let from_at = place_of(pose, j);
	let p = place_of(pose, end);
	let y = ground_at(middle, p.x, p.z) + least_tip_height;
	if p.y < y {
		let d = p - from_at;
		let size = length3(d);
		let down = max(-d.y, 0.0) / max(size, tiny);
		aim(pose, j, p, from_at + inclined(d, y - from_at.y, d.xz + ahead * (size * down * down * down * down)), 1.0);
	}
}

// lift_chain lifts the bones of a tail or a head that dip into the ground. Those below keep their directions.
fn lift_chain(pose: u32, first: u32, end: u32, middle: vec3<f32>) {
	for (var i = first + 1u; i < end; i++) {
		let a = u32(tables[chains + i - 1u]);
		let b = u32(tables[chains + i]);
		let was = rotation_of(pose, a);
		let way = place_of(pose, u32(tables[chains + end - 1u])) - place_of(pose, u32(tables[chains + first]));
		var lifted = false;
		for (var again = 0u; again < 2u; again++) {
			let p = place_of(pose, b);
			let from_at = place_of(pose, a);
			let y = ground_at(middle, p.x, p.z) + clearance;
			if p.y < y {
				let d = p - from_at;
				var yaw = angle(way.x, way.z);
				yaw += clamp(wrap(angle(d.x, d.z) - yaw), -tail_sweep, tail_sweep);
				aim(pose, a, p, from_at + inclined(d, y - from_at.y, sincos(yaw)), 1.0);
				lifted = true;
			}
		}
		if lifted && i + 1u < end {
			turn_joint(pose, b, after(was, reversed(rotation_of(pose, a))));
		}
	}
}

@compute @workgroup_size(64)
fn stand_up(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) thread: u32) {
	if goals[group.x * goal_size + 5u] == 0.0 {
		return;
	}
	let pose = group.x * joints * 8u;
	let mine = min(thread, joints - 1u);
	let hips_over = place_of(pose, 0u);
	storageBarrier();
	if thread < joints { // the flat pose stands on its soles
		poses[pose + 8u * thread + 1u] -= sole;
	}
	storageBarrier();
	let flat_place = place_of(pose, mine);
	let flat_rotation = rotation_of(pose, mine);
	let hips_at = place_of(pose, spine_joint(0u));
	let neck_at = place_of(pose, neck_joint);
	var middle = lerp3(hips_at, neck_at, 0.5);
	middle.y = height_at(middle.x, middle.z);
	var ahead = unit2(neck_at.xz - hips_at.xz, vec2<f32>());
	if upright { // an upright trunk moves with the hips
		ahead = unit2(cross(place_of(pose, hips_left) - place_of(pose, hips_right), upward()).xz, vec2<f32>());
	}
	if thread < 5u {
		unders[thread] = mean_ground(middle, place_of(pose, u32(tables[under_joints + thread])), ahead);
	}
	if thread < 2u {
		sinks[thread] = 0.0;
	}
	if thread < legs_count {
		plan_leg(pose, thread, middle);
	}
	workgroupBarrier();
	storageBarrier();
	lift_spine(pose, thread);
	for (var again = 0u; again < 3u; again++) {
		if thread < legs_count {
			wish_to_sink(pose, thread, middle);
		}
		workgroupBarrier();
		if thread < 2u {
			var wish = 0.0;
			var room = most_drop;
			for (var l = 0u; l < legs_count; l++) {
				if u32(tables[fores + l]) == thread {
					wish = max(wish, wishes[l]);
					room = min(room, rooms[l]);
				}
			}
			sinks[thread] = max(min(wish, room), -most_drop);
		}
		workgroupBarrier();
		storageBarrier();
		if thread < joints {
			put_joint(pose, thread, flat_place, flat_rotation);
		}
		storageBarrier();
		lift_spine(pose, thread);
	}
	if thread < legs_count {
		move_leg(pose, thread, middle);
	}
	storageBarrier();
	if thread < 2u {
		lift_chain(pose, u32(tables[chain_ends + legs_count + thread]), u32(tables[chain_ends + legs_count + thread + 1u]), middle);
	}
	storageBarrier();
	// The matrices for the renderer, and where the agent is.
	if thread < joints {
		let q = unit4(rotation_of(pose, thread));
		let p = place_of(pose, thread);
		put_joint(pose, thread, p, q);
		let bind = binds + 8u * thread;
		let shift = p + rotate(q, vec3<f32>(scene[bind], scene[bind + 1u], scene[bind + 2u]));
		let r = after(q, vec4<f32>(scene[bind + 4u], scene[bind + 5u], scene[bind + 6u], scene[bind + 7u]));
		let at = 12u * (group.x * joints + thread);
		put_row(at, vec4<f32>(1.0 - 2.0 * (r.y * r.y + r.z * r.z), 2.0 * (r.x * r.y - r.w * r.z), 2.0 * (r.x * r.z + r.w * r.y), shift.x));
		put_row(at + 4u, vec4<f32>(2.0 * (r.x * r.y + r.w * r.z), 1.0 - 2.0 * (r.x * r.x + r.z * r.z), 2.0 * (r.y * r.z - r.w * r.x), shift.y));
		put_row(at + 8u, vec4<f32>(2.0 * (r.x * r.z - r.w * r.y), 2.0 * (r.y * r.z + r.w * r.x), 1.0 - 2.0 * (r.x * r.x + r.y * r.y), shift.z));
	}
	if thread == 0u {
		let base = group.x * row_size;
		let at = 8u * (u32(scene[capacity]) * joints + group.x); // behind the poses of all agents
		let p = root_place(base);
		let d = root_ahead(base);
		let v = root_velocity(base);
		poses[at] = p.x;
		poses[at + 1u] = hips_over.y + height_at(hips_over.x, hips_over.z);
		poses[at + 2u] = p.y;
		poses[at + 3u] = root_restored(base);
		poses[at + 4u] = d.x;
		poses[at + 5u] = d.y;
		poses[at + 6u] = v.x;
		poses[at + 7u] = v.y;
	}
}

fn put_row(at: u32, v: vec4<f32>) {
	matrices[at] = v.x;
	matrices[at + 1u] = v.y;
	matrices[at + 2u] = v.z;
	matrices[at + 3u] = v.w;
}

// skin writes the places and normals of a mesh's vertices, 8 float32s each, for the agents that a list names: a workgroup takes 64 vertices
// of one. The mesh has 16 numbers a vertex: place, normal, joints and weights.
@compute @workgroup_size(64)
fn skin(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) thread: u32) {
	let count = u32(scene[0]);
	let v = 64u * group.x + thread;
	if v >= count {
		return;
	}
	let agent = u32(goals[group.y]);
	let at = 1u + 16u * v;
	let p = vec4<f32>(scene[at], scene[at + 1u], scene[at + 2u], 1.0);
	let n = vec4<f32>(scene[at + 3u], scene[at + 4u], scene[at + 5u], 0.0);
	var place = vec3<f32>();
	var normal = vec3<f32>();
	for (var i = 0u; i < 4u; i++) {
		let w = scene[at + 12u + i];
		if w > 0.0 {
			let m = 12u * (agent * joints + u32(scene[at + 8u + i]));
			let x = vec4<f32>(matrices[m], matrices[m + 1u], matrices[m + 2u], matrices[m + 3u]);
			let y = vec4<f32>(matrices[m + 4u], matrices[m + 5u], matrices[m + 6u], matrices[m + 7u]);
			let z = vec4<f32>(matrices[m + 8u], matrices[m + 9u], matrices[m + 10u], matrices[m + 11u]);
			place += w * vec3<f32>(dot(x, p), dot(y, p), dot(z, p));
			normal += w * vec3<f32>(dot(x, n), dot(y, n), dot(z, n));
		}
	}
	normal = unit3(normal, upward());
	let to = 8u * (group.y * count + v);
	net[to] = place.x;
	net[to + 1u] = place.y;
	net[to + 2u] = place.z;
	net[to + 4u] = normal.x;
	net[to + 5u] = normal.y;
	net[to + 6u] = normal.z;
}
