// Light, shadow and air, shared by everything that stands in the scene. Colours
// are linear until present().
uniform vec3 Eye;       // camera, world, m
uniform vec3 SunDir;    // toward the sun, unit
uniform mat4 ShadowMatrix;
uniform sampler2DShadow ShadowMap;
uniform float Fog;      // distance at which air hides about 63 %, m

const vec3 SunColor = vec3(1.38, 1.20, 0.92);
const vec3 SkyLight = vec3(0.36, 0.46, 0.66);
const vec3 GroundLight = vec3(0.17, 0.17, 0.11);

vec3 sky(vec3 dir) {
	float up = clamp(dir.y, 0.0, 1.0);
	vec3 c = mix(vec3(0.68, 0.81, 0.93), vec3(0.09, 0.28, 0.66), 1.0 - (1.0 - up) * (1.0 - up));
	float s = max(dot(dir, SunDir), 0.0);
	s *= s; s *= s; s *= s;
	return c + vec3(0.30, 0.22, 0.10) * s;
}

// shadow returns how much of the sun reaches p: 0 to 1. Beyond the map all is
// lit; the border fades.
float shadow(vec3 p, vec3 n) {
	vec4 q = ShadowMatrix * vec4(p + n * 0.012, 1.0);
	vec3 s = q.xyz * 0.5 + 0.5;
	float edge = max(abs(q.x), abs(q.y));
	if (edge >= 1.0 || s.z >= 1.0) return 1.0;
	// Four taps on a turned square.
	vec2 t = vec2(-1.0, -0.4) * (0.75 / float(textureSize(ShadowMap, 0).x));
	vec2 u = vec2(t.y, -t.x);
	float light = texture(ShadowMap, vec3(s.xy + t, s.z)) + texture(ShadowMap, vec3(s.xy - t, s.z))
		+ texture(ShadowMap, vec3(s.xy + u, s.z)) + texture(ShadowMap, vec3(s.xy - u, s.z));
	return mix(light * 0.25, 1.0, smoothstep(0.85, 1.0, edge));
}

vec3 lit(vec3 albedo, vec3 n, float sun) {
	vec3 ambient = mix(GroundLight, SkyLight, n.y * 0.5 + 0.5);
	return albedo * (ambient + SunColor * (max(dot(n, SunDir), 0.0) * sun));
}

// encode rolls off bright light, so that white fur keeps its shape, and applies
// the screen's curve.
vec3 encode(vec3 c) { return sqrt(clamp(c / (0.82 + 0.42 * c), 0.0, 1.0)); }

// present adds the air between p and the eye.
vec3 present(vec3 c, vec3 p) {
	vec3 d = p - Eye;
	float r = length(d);
	vec3 dir = d / r;
	float air = 1.0 - exp(-r * r / (Fog * Fog));
	c = mix(c, sky(vec3(dir.x, max(dir.y, 0.0), dir.z)), air);
	return encode(c);
}

float hash(vec3 p) {
	p = fract(p * 0.3183099 + vec3(0.71, 0.113, 0.419));
	p *= 17.0;
	return fract(p.x * p.y * p.z * (p.x + p.y + p.z));
}

float noise(vec3 x) {
	vec3 i = floor(x), f = fract(x);
	f = f * f * (3.0 - 2.0 * f);
	return mix(mix(mix(hash(i), hash(i + vec3(1, 0, 0)), f.x), mix(hash(i + vec3(0, 1, 0)), hash(i + vec3(1, 1, 0)), f.x), f.y),
		mix(mix(hash(i + vec3(0, 0, 1)), hash(i + vec3(1, 0, 1)), f.x), mix(hash(i + vec3(0, 1, 1)), hash(i + vec3(1, 1, 1)), f.x), f.y), f.z);
}
