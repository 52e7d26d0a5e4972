// Light, shadow and air, shared by everything that stands in the scene. Colours
// are linear until present().
uniform vec3 Eye;       // camera, world, m
uniform vec3 SunDir;    // toward the sun, unit
uniform mat4 ShadowMatrix;
uniform sampler2DShadow ShadowMap;
uniform sampler2D Grain; // see grain.go
uniform float Fog;      // distance at which air hides about 63 %, m

const vec3 SunColor = vec3(2.05, 1.74, 1.30);
const vec3 SkyLight = vec3(0.46, 0.56, 0.74);
const vec3 GroundLight = vec3(0.25, 0.24, 0.16);

// sky returns the light from dir. Below the horizon it is the light at the horizon, which is also
// the colour of the air, so that the ground ends without an edge.
vec3 sky(vec3 dir) {
	float up = clamp(dir.y, 0.0, 1.0);
	float low = 1.0 - up;
	low *= low;
	vec3 c = mix(vec3(0.12, 0.32, 0.84), vec3(0.76, 0.97, 1.22), low * low);
	float s = max(dot(dir, SunDir), 0.0);
	s *= s; s *= s;
	c += vec3(0.26, 0.18, 0.08) * s;
	s *= s; s *= s; s *= s;
	return c + vec3(0.30, 0.24, 0.14) * s;
}

// shadow returns the share of the sun's light at p, 0 to 1. Beyond the map everything is lit; the
// border fades.
float shadow(vec3 p, vec3 n) {
	vec4 q = ShadowMatrix * vec4(p + n * 0.016, 1.0);
	vec3 s = q.xyz * 0.5 + 0.5;
	float edge = max(abs(q.x), abs(q.y));
	if (edge >= 1.0 || s.z >= 1.0) return 1.0;
	// Borders are soft over some 3 cm, wherever texels are not larger than that.
	float soft = 0.5 * length(vec3(ShadowMatrix[0].x, ShadowMatrix[1].x, ShadowMatrix[2].x)); // of the map, per m
	float r = max(0.016 * soft, 1.2 / float(textureSize(ShadowMap, 0).x));
	// Four taps on a turned square: in software every one more takes 2 % of a picture's time.
	vec2 t = vec2(-0.92, -0.38) * r, u = vec2(t.y, -t.x);
	float light = texture(ShadowMap, vec3(s.xy + t, s.z)) + texture(ShadowMap, vec3(s.xy - t, s.z))
		+ texture(ShadowMap, vec3(s.xy + u, s.z)) + texture(ShadowMap, vec3(s.xy - u, s.z));
	return mix(light * 0.25, 1.0, smoothstep(0.85, 1.0, edge));
}

// lit returns albedo in the light of sun, sky and ground. Through what is soft,
// as fur and skin are, light goes some way beyond where the sun sets: soft, 0 to 1.
vec3 lit(vec3 albedo, vec3 n, float sun, float soft) {
	vec3 ambient = mix(GroundLight, SkyLight, n.y * 0.5 + 0.5);
	float facing = max((dot(n, SunDir) + 0.5 * soft) / (1.0 + 0.5 * soft), 0.0);
	return albedo * (ambient + SunColor * (facing * sun));
}

// encode maps light to the screen: bright light rolls off as on film (Narkowicz's
// fit of the ACES curve), then comes the curve of sRGB, within 1 % but for black.
vec3 encode(vec3 c) {
	c *= 0.54;
	c = clamp((c * (2.51 * c + 0.03)) / (c * (2.43 * c + 0.59) + 0.14), 0.0, 1.0);
	return 1.1356 * sqrt(c) - 0.1356 * c;
}

// haze returns the opacity of the air over r metres.
float haze(float r) { return 1.0 - exp(-r * r / (Fog * Fog)); }

// air returns the colour of the air between p and the eye, and its opacity.
vec4 air(vec3 p) {
	vec3 d = p - Eye;
	float r = length(d);
	return vec4(sky(d / r), haze(r));
}

// present returns what the screen shows of a colour behind air.
vec3 present(vec3 c, vec4 air) { return encode(mix(c, air.rgb, air.a)); }

// present of a colour at p.
vec3 present(vec3 c, vec3 p) { return present(c, air(p)); }
