// Arithmetic that WebGPU leaves to the GPU: its own sin, cos, atan2, acos and exp may be off by 5e-4. These are within some 1e-7, by the
// polynomials of the Cephes library.

const pi = 3.14159265358979;

// sincos returns the sine and cosine of x radians, for a few turns.
fn sincos(x: f32) -> vec2<f32> {
	let n = round(x * 0.636619772367581);
	let r = (x - n * 1.5703125) - n * 4.83826794896619e-4;
	let z = r * r;
	let s = ((-1.9515295891e-4 * z + 8.3321608736e-3) * z - 1.6666654611e-1) * z * r + r;
	let c = ((2.443315711809948e-5 * z - 1.388731625493765e-3) * z + 4.166664568298827e-2) * z * z - 0.5 * z + 1.0;
	let q = i32(n) & 3;
	let swapped = (q & 1) == 1;
	let a = select(s, c, swapped);
	let b = select(c, s, swapped);
	return vec2<f32>(select(a, -a, q >= 2), select(b, -b, q == 1 || q == 2));
}

// angle returns the angle of the point (x, y), radians.
fn angle(y: f32, x: f32) -> f32 {
	let ax = abs(x);
	let ay = abs(y);
	let high = max(ax, ay);
	if high == 0.0 {
		return 0.0;
	}
	let ratio = min(ax, ay) / high;
	let steep = ratio > 0.414213562373095;
	let t = select(ratio, (ratio - 1.0) / (ratio + 1.0), steep);
	let z = t * t;
	var a = (((8.05374449538e-2 * z - 1.38776856032e-1) * z + 1.99777106478e-1) * z - 3.33329491539e-1) * z * t + t;
	a += select(0.0, 0.25 * pi, steep);
	a = select(a, 0.5 * pi - a, ay > ax);
	a = select(a, pi - a, x < 0.0);
	return select(a, -a, y < 0.0);
}

fn arc_cosine(x: f32) -> f32 {
	let c = clamp(x, -1.0, 1.0);
	return angle(sqrt((1.0 - c) * (1.0 + c)), c);
}

// wrap returns x shifted by whole turns into [−π, π].
fn wrap(x: f32) -> f32 {
	return x - 2.0 * pi * round(x / (2.0 * pi));
}

// power_of_e returns e^x, for x from −87 to 0 and a little above.
fn power_of_e(x: f32) -> f32 {
	let y = max(x, -87.0);
	let n = round(y * 1.44269504088896);
	let r = (y - n * 0.693359375) + n * 2.12194440e-4;
	var p = 1.9875691500e-4;
	p = p * r + 1.3981999507e-3;
	p = p * r + 8.3334519073e-3;
	p = p * r + 4.1665795894e-2;
	p = p * r + 1.6666665459e-1;
	p = p * r + 5.0000001201e-1;
	return (p * r * r + r + 1.0) * bitcast<f32>(u32(i32(n) + 127) << 23u);
}

fn finite(x: f32) -> bool {
	return (bitcast<u32>(x) & 0x7f800000u) != 0x7f800000u;
}

// lerp returns a + t·(b − a).
fn lerp(a: f32, b: f32, t: f32) -> f32 {
	return a + t * (b - a);
}

fn lerp2(a: vec2<f32>, b: vec2<f32>, t: f32) -> vec2<f32> {
	return a + (b - a) * t;
}

fn lerp3(a: vec3<f32>, b: vec3<f32>, t: f32) -> vec3<f32> {
	return a + (b - a) * t;
}

fn unit2(v: vec2<f32>, fallback: vec2<f32>) -> vec2<f32> {
	let l = sqrt(dot(v, v));
	if !(l > 1e-6) {
		return fallback;
	}
	return v * (1.0 / l);
}

fn unit3(v: vec3<f32>, fallback: vec3<f32>) -> vec3<f32> {
	let l = sqrt(dot(v, v));
	if !(l > 1e-9) {
		return fallback;
	}
	return v * (1.0 / l);
}

fn excess(x: f32, slack: f32) -> f32 {
	return x - clamp(x, -slack, slack);
}

// Quaternions are x, y, z, w, as in engine/m3.

// These are functions because the library takes vectors that are constants of the module for zeros.
fn still() -> vec4<f32> {
	return vec4<f32>(0.0, 0.0, 0.0, 1.0);
}

fn upward() -> vec3<f32> {
	return vec3<f32>(0.0, 1.0, 0.0);
}

// after returns the rotation that applies b first and a second.
fn after(a: vec4<f32>, b: vec4<f32>) -> vec4<f32> {
	return vec4<f32>(a.w * b.xyz + b.w * a.xyz + cross(a.xyz, b.xyz), a.w * b.w - dot(a.xyz, b.xyz));
}

fn reversed(a: vec4<f32>) -> vec4<f32> {
	return vec4<f32>(-a.xyz, a.w);
}

fn rotate(a: vec4<f32>, v: vec3<f32>) -> vec3<f32> {
	let t = cross(a.xyz, v) * 2.0;
	return v + t * a.w + cross(a.xyz, t);
}

fn unit4(a: vec4<f32>) -> vec4<f32> {
	let n = dot(a, a);
	if !(n > 1e-24) || !finite(n) {
		return still();
	}
	return a * (1.0 / sqrt(n));
}

fn about(axis: vec3<f32>, by: f32) -> vec4<f32> {
	let s = sincos(0.5 * by);
	return vec4<f32>(axis * s.x, s.y);
}

// between returns the shortest rotation from one unit vector to another.
fn between(a: vec3<f32>, b: vec3<f32>) -> vec4<f32> {
	let d = dot(a, b);
	if d > -0.9 {
		return unit4(vec4<f32>(cross(a, b), 1.0 + d));
	}
	let sum = a + b;
	let c = cross(a, sum);
	let n = sqrt(dot(sum, sum));
	if sqrt(dot(c, c)) < 1e-6 {
		var axis = cross(vec3<f32>(1.0, 0.0, 0.0), a);
		if dot(axis, axis) < 1e-6 {
			axis = cross(vec3<f32>(0.0, 0.0, 1.0), a);
		}
		return vec4<f32>(unit3(axis, upward()), 0.0);
	}
	return unit4(vec4<f32>(c / n, n * 0.5));
}

// part returns the share t of a rotation.
fn part(q: vec4<f32>, t: f32) -> vec4<f32> {
	let b = select(q, -q, q.w < 0.0);
	if b.w > 0.9995 {
		return unit4(still() + (b - still()) * t);
	}
	let v = sqrt(dot(b.xyz, b.xyz));
	let s = sincos(t * angle(v, b.w));
	return unit4(vec4<f32>(b.xyz * (s.x / v), s.y));
}

// turn_of returns a rotation's axis times its angle, and turning the rotation of such a vector.
fn turn_of(q: vec4<f32>) -> vec3<f32> {
	let a = select(q, -q, q.w < 0.0);
	let s = sqrt(dot(a.xyz, a.xyz));
	if s < 1e-7 {
		return a.xyz * 2.0;
	}
	return a.xyz * (2.0 * angle(s, a.w) / s);
}

fn turning(v: vec3<f32>) -> vec4<f32> {
	let l = sqrt(dot(v, v));
	if l < 1e-7 {
		return unit4(vec4<f32>(v * 0.5, 1.0));
	}
	return about(v * (1.0 / l), l);
}

// looking returns the rotation whose +Z axis is forward and whose +Y axis is as near to up as it can be.
fn looking(forward: vec3<f32>, up: vec3<f32>) -> vec4<f32> {
	let z = unit3(forward, vec3<f32>());
	if dot(z, z) == 0.0 {
		return still();
	}
	var x = cross(up, z);
	if dot(x, x) < 1e-12 {
		x = vec3<f32>(1.0, 0.0, 0.0) - z * z.x;
		if abs(z.x) > 0.9 {
			x = cross(vec3<f32>(0.0, 0.0, 1.0), z);
		}
	}
	x = unit3(x, vec3<f32>(1.0, 0.0, 0.0));
	let y = cross(z, x);
	return from_axes(x, y, z);
}

// from_axes returns the rotation that takes the axes to x, y and z.
fn from_axes(x: vec3<f32>, y: vec3<f32>, z: vec3<f32>) -> vec4<f32> {
	let t = x.x + y.y + z.z;
	if t > 0.0 {
		let s = sqrt(t + 1.0) * 2.0;
		return unit4(vec4<f32>((y.z - z.y) / s, (z.x - x.z) / s, (x.y - y.x) / s, s * 0.25));
	}
	if x.x > y.y && x.x > z.z {
		let s = sqrt(1.0 + x.x - y.y - z.z) * 2.0;
		return unit4(vec4<f32>(s * 0.25, (y.x + x.y) / s, (z.x + x.z) / s, (y.z - z.y) / s));
	}
	if y.y > z.z {
		let s = sqrt(1.0 + y.y - x.x - z.z) * 2.0;
		return unit4(vec4<f32>((y.x + x.y) / s, s * 0.25, (z.y + y.z) / s, (z.x - x.z) / s));
	}
	let s = sqrt(1.0 + z.z - x.x - y.y) * 2.0;
	return unit4(vec4<f32>((z.x + x.z) / s, (z.y + y.z) / s, s * 0.25, (x.y - y.x) / s));
}

fn rotate2(v: vec2<f32>, s: vec2<f32>) -> vec2<f32> {
	return vec2<f32>(v.x * s.y + v.y * s.x, v.y * s.y - v.x * s.x);
}

// turned returns a vector of the ground, turned by a yaw.
fn turned(v: vec2<f32>, by: f32) -> vec2<f32> {
	return rotate2(v, sincos(by));
}

// Access to the memory of agents.

// net_place returns a place in the network's memory, of a table: its lower 16 bits, and the upper ones.
fn net_place(at: u32) -> u32 {
	return u32(tables[at]) + (u32(tables[at + 1u]) << 16u);
}

fn get2(at: u32) -> vec2<f32> {
	return vec2<f32>(rows[at], rows[at + 1u]);
}

fn put2(at: u32, v: vec2<f32>) {
	rows[at] = v.x;
	rows[at + 1u] = v.y;
}

fn get3(at: u32) -> vec3<f32> {
	return vec3<f32>(rows[at], rows[at + 1u], rows[at + 2u]);
}

fn put3(at: u32, v: vec3<f32>) {
	rows[at] = v.x;
	rows[at + 1u] = v.y;
	rows[at + 2u] = v.z;
}

fn pose3(at: u32) -> vec3<f32> {
	return vec3<f32>(poses[at], poses[at + 1u], poses[at + 2u]);
}

fn pose4(at: u32) -> vec4<f32> {
	return vec4<f32>(poses[at], poses[at + 1u], poses[at + 2u], poses[at + 3u]);
}

fn table3(at: u32) -> vec3<f32> {
	return vec3<f32>(tables[at], tables[at + 1u], tables[at + 2u]);
}
