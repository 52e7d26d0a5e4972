// Inertialization of announced jumps: see inertial.go, whose names these are. A workgroup works on a row, a thread has a joint. shader.go puts
// constants before this.

// The place of the numbers of a row, and of a joint.
const ease_begun = 1u;
const ease_fading = 2u;
const ease_jumps = 3u; // 1: the next pose does not continue the last; 2: nor does the next root
const ease_last = 4u;
const ease_older = 7u;
const ease_off = 10u;
const ease_vel = 13u;
const ease_in = 16u;
const ease_root = 19u;
const ease_before = 22u;
const ease_joints = 25u;
const joint_last = 0u;
const joint_older = 4u;
const joint_in = 8u;
const joint_off = 12u;
const joint_spin = 16u;
const joint_size = 19u;

var<workgroup> ease_found: array<u32, 64>; // 1: something is left of a joint's offset; 2: it is not finite

fn get4(at: u32) -> vec4<f32> {
	return vec4<f32>(rows[at], rows[at + 1u], rows[at + 2u], rows[at + 3u]);
}

fn put4(at: u32, v: vec4<f32>) {
	rows[at] = v.x;
	rows[at + 1u] = v.y;
	rows[at + 2u] = v.z;
	rows[at + 3u] = v.w;
}

fn long(v: vec3<f32>) -> f32 {
	return sqrt(dot(v, v));
}

fn sound3(v: vec3<f32>) -> bool {
	return finite(v.x) && finite(v.y) && finite(v.z);
}

fn sound4(v: vec4<f32>) -> bool {
	return finite(v.x) && finite(v.y) && finite(v.z) && finite(v.w);
}

// decayed returns an offset, and decaying its velocity, a tick later.
fn decayed(x: vec3<f32>, v: vec3<f32>) -> vec3<f32> {
	return (x + (v + x * ease_damping) * ease_dt) * ease_decay;
}

fn decaying(x: vec3<f32>, v: vec3<f32>) -> vec3<f32> {
	return (v - (v + x * ease_damping) * (ease_damping * ease_dt)) * ease_decay;
}

// bounded returns a rotation's vector of a little less than half a turn at most, and slowed the velocity of one that went beyond.
fn bounded(r: vec3<f32>) -> vec3<f32> {
	let l = long(r);
	if l > 3.1 {
		return r * (3.1 / l);
	}
	return r;
}

fn slowed(r: vec3<f32>, w: vec3<f32>) -> vec3<f32> {
	let l = long(r);
	if l > 3.1 {
		let out = r * (1.0 / l);
		return w - out * max(dot(w, out), 0.0);
	}
	return w;
}

// learned returns the velocity of an offset that began in the last tick less that of the new motion.
fn learned(seen: f32, v: vec3<f32>, shown: vec3<f32>, way: vec3<f32>, more: f32) -> vec3<f32> {
	if seen < 2.0 {
		return vec3<f32>();
	}
	var by = way;
	let l = long(by);
	let most = long(shown) + more * ease_dt;
	if l > most {
		by = by * (most / l);
	}
	return v - by * (1.0 / ease_dt);
}

@compute @workgroup_size(64)
fn ease(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) thread: u32) {
	if goals[group.x * goal_size + 5u] == 0.0 {
		return;
	}
	let base = group.x * row_size;
	let row = base + ease_at;
	let pose = group.x * joints * 8u;
	let at = row + ease_joints + joint_size * min(thread, joints - 1u);
	let seen = rows[row];
	let was_begun = rows[row + ease_begun] != 0.0;
	let announced = rows[row + ease_jumps];
	let begun = (jumped(base) || announced > 0.0) && seen > 0.0;
	let learns = was_begun && !begun;
	let fading = begun || rows[row + ease_fading] != 0.0;
	// How much faster the root went and turned before.
	let place = root_place(base);
	let yaw = root_yaw(base);
	let last_place = get2(row + ease_root);
	let last_yaw = rows[row + ease_root + 2u];
	let before = last_place - get2(row + ease_before);
	let here = place - last_place;
	let turned_by = wrap(last_yaw - rows[row + ease_before + 2u]);
	let turns_by = wrap(yaw - last_yaw);
	var root_goes = vec3<f32>();
	var root_turns = vec3<f32>();
	let most = ease_fastest * ease_dt;
	if announced < 2.0 && sqrt(dot(before, before)) <= most && sqrt(dot(here, here)) <= most && abs(turned_by) <= most && abs(turns_by) <= most {
		let more = turned(before - here, -yaw);
		root_goes = vec3<f32>(more.x, 0.0, more.y) * (1.0 / ease_dt);
		root_turns = vec3<f32>(0.0, (turned_by - turns_by) / ease_dt, 0.0);
	}
	let keep = select(1.0, ease_keep, was_begun);

	let q = pose4(pose + 8u * min(thread, joints - 1u) + 4u);
	var out = q;
	var left = 0u;
	if thread < joints {
		let last = get4(at + joint_last);
		let older = get4(at + joint_older);
		var off = get4(at + joint_off);
		var spin = get3(at + joint_spin);
		if begun {
			var spins = vec3<f32>();
			if seen == 2.0 {
				spins = (root_turns + turn_of(after(last, reversed(older))) * (1.0 / ease_dt)) * keep;
			}
			let r = turn_of(after(after(turning(spins * ease_dt), last), reversed(q)));
			off = turning(bounded(decayed(r, vec3<f32>())));
			spin = slowed(decayed(r, vec3<f32>()), decaying(r, vec3<f32>())) + spins;
		} else {
			if learns {
				spin = learned(seen, spin, turn_of(after(last, reversed(older))), rotate(off, turn_of(after(q, reversed(get4(at + joint_in))))), ease_more_spin);
			}
			if fading {
				let r = turn_of(off);
				off = turning(bounded(decayed(r, spin)));
				spin = slowed(decayed(r, spin), decaying(r, spin));
			}
		}
		if fading {
			out = unit4(after(off, q));
			if 1.0 - abs(off.w) > ease_still * ease_still / 8.0 || long(spin) > ease_slow {
				left = 1u;
			}
		}
		if !sound4(q) || !sound4(off) || !sound3(spin) {
			left = 2u;
		}
		put4(at + joint_in, q);
		put4(at + joint_older, last);
		put4(at + joint_last, out);
		put4(at + joint_off, off);
		put3(at + joint_spin, spin);
	}
	// Joint 0's place, by all threads.
	let p = pose3(pose);
	var hips_out = p;
	let hips_last = get3(row + ease_last);
	let hips_older = get3(row + ease_older);
	var hips_off = get3(row + ease_off);
	var hips_vel = get3(row + ease_vel);
	if begun {
		var goes = vec3<f32>();
		if seen == 2.0 {
			goes = (root_goes + (hips_last - hips_older) * (1.0 / ease_dt)) * keep;
		}
		let d = hips_last + goes * ease_dt - p;
		hips_off = decayed(d, vec3<f32>());
		hips_vel = decaying(d, vec3<f32>()) + goes;
	} else {
		if learns {
			hips_vel = learned(seen, hips_vel, hips_last - hips_older, p - get3(row + ease_in), ease_more_speed);
		}
		if fading {
			let d = hips_off;
			hips_off = decayed(d, hips_vel);
			hips_vel = decaying(d, hips_vel);
		}
	}
	if fading {
		hips_out = p + hips_off;
		if thread == 0u && (long(hips_off) > ease_still || long(hips_vel) > ease_slow) {
			left = max(left, 1u);
		}
	}
	if !sound3(p) || !sound3(hips_off) || !sound3(hips_vel) {
		left = 2u;
	}
	workgroupBarrier();
	ease_found[thread] = left;
	workgroupBarrier();
	storageBarrier();
	var all = 0u;
	for (var i = 0u; i < 64u; i++) {
		all = max(all, ease_found[i]);
	}
	let bad = all == 2u;
	if bad { // it passes through, and is not remembered
		out = q;
		hips_out = p;
	}
	if thread < joints {
		if all != 1u {
			put4(at + joint_off, still());
			put3(at + joint_spin, vec3<f32>());
		}
		put4(at + joint_last, out);
		let to = pose + 8u * thread + 4u;
		poses[to] = out.x;
		poses[to + 1u] = out.y;
		poses[to + 2u] = out.z;
		poses[to + 3u] = out.w;
	}
	storageBarrier();
	// The places of joints, from their own up, and then the world.
	var there = vec3<f32>();
	var k = min(thread, joints - 1u);
	for (var depth = 0u; depth < joints; depth++) {
		let parent = tables[parents + k];
		if parent < 0.0 {
			break;
		}
		there = there + rotate(pose4(pose + 8u * u32(parent) + 4u), table3(offsets + 3u * k));
		k = u32(parent);
	}
	there = there + hips_out;
	storageBarrier();
	if thread < joints {
		let to = pose + 8u * thread;
		let ground_place = turned(there.xz, yaw);
		let world = after(about(upward(), yaw), out);
		poses[to] = place.x + ground_place.x;
		poses[to + 1u] = there.y;
		poses[to + 2u] = place.y + ground_place.y;
		poses[to + 3u] = 0.0;
		poses[to + 4u] = world.x;
		poses[to + 5u] = world.y;
		poses[to + 6u] = world.z;
		poses[to + 7u] = world.w;
	}
	if thread == 0u {
		put3(row + ease_older, hips_last);
		put3(row + ease_last, hips_out);
		put3(row + ease_in, p);
		put3(row + ease_off, hips_off);
		put3(row + ease_vel, hips_vel);
		if all != 1u {
			put3(row + ease_off, vec3<f32>());
			put3(row + ease_vel, vec3<f32>());
		}
		put2(row + ease_before, last_place);
		rows[row + ease_before + 2u] = last_yaw;
		put2(row + ease_root, place);
		rows[row + ease_root + 2u] = yaw;
		rows[row] = select(min(seen + 1.0, 2.0), 0.0, bad);
		rows[row + ease_begun] = select(0.0, 1.0, begun && !bad);
		rows[row + ease_fading] = select(0.0, 1.0, all == 1u);
		rows[row + ease_jumps] = 0.0;
		eased(base);
	}
}
