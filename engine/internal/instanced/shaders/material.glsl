// The material of a place on a body that has materials, as glTF 2.0 describes it.
in vec2 vCoord;
uniform vec4 BaseColor;
uniform vec4 Emissive;  // its fourth is the cutoff
uniform vec3 Roughness; // metallic, roughness, scale of the normal map
#ifdef BASE_MAP
uniform sampler2D BaseMap;
#endif
#ifdef ROUGH_MAP
uniform sampler2D RoughMap;
#endif
#ifdef NORMAL_MAP
uniform sampler2D NormalMap;
#endif
#ifdef EMISSIVE_MAP
uniform sampler2D EmissiveMap;
#endif

float opacity = 1.0; // of baseColor

// baseColor returns the linear colour, times that of the vertex. It discards what the material cuts
// out, and for a pass with SOFT what that without it has drawn.
vec3 baseColor(vec3 vertex) {
	vec4 base = BaseColor * vec4(vertex, 1.0);
#ifdef BASE_MAP
	base *= texture(BaseMap, vCoord);
#endif
#ifdef SOFT
	if (base.a >= Emissive.a || base.a < 0.5 / 255.0) discard;
	opacity = base.a;
#else
	if (base.a < Emissive.a) discard;
#endif
	return base.rgb;
}

// emission returns the light that the place sends out by itself.
vec3 emission() {
#ifdef EMISSIVE_MAP
	return Emissive.rgb * texture(EmissiveMap, vCoord).rgb;
#else
	return Emissive.rgb;
#endif
}

// metalRough returns metallic and roughness.
vec2 metalRough() {
	vec2 r = Roughness.xy;
#ifdef ROUGH_MAP
	r *= texture(RoughMap, vCoord).bg;
#endif
	return vec2(r.x, clamp(r.y, 0.04, 1.0));
}

// bumped turns the normal n at p by the normal map. The tangents come from how place and texture
// coordinates change on the screen (Schüler 2013).
vec3 bumped(vec3 n, vec3 p) {
#ifdef NORMAL_MAP
	vec3 px = dFdx(p), py = dFdy(p);
	vec2 cx = dFdx(vCoord), cy = dFdy(vCoord);
	vec3 rx = cross(py, n), ry = cross(n, px);
	vec3 u = rx * cx.x + ry * cy.x, v = rx * cx.y + ry * cy.y;
	float size = max(dot(u, u), dot(v, v));
	if (!(size > 0.0)) return n;
	vec3 t = 2.0 * texture(NormalMap, vCoord).xyz - 1.0;
	t.xy *= Roughness.z;
	return normalize((u * t.x - v * t.y) * inversesqrt(size) + n * t.z); // green is up, V goes down
#else
	return n;
#endif
}
