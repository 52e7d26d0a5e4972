// Bodies with materials, in the light of g3n's physical material: a microfacet surface as
// glTF 2.0, appendix B, describes it, after Walter et al. 2007 and Schlick 1994.
precision highp float;
#include <mannequin_lighting>
in vec3 vPos;
in vec3 vNormal;
in vec3 vBind;
in vec4 vCoat;
in vec2 vCoord;
flat in vec3 vTint;
flat in vec4 vVariation;
out vec4 FragColor;

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

const float PI = 3.14159265;
vec3 normal, toEye;
vec3 diffuse, f0; // of the surface
float alpha;      // roughness, squared

vec3 reflected(vec3 toLight, vec3 light) {
	vec3 h = normalize(toLight + toEye);
	float nl = clamp(dot(normal, toLight), 0.001, 1.0), nv = abs(dot(normal, toEye)) + 0.001;
	float nh = clamp(dot(normal, h), 0.0, 1.0), vh = clamp(dot(toEye, h), 0.0, 1.0);
	float a2 = alpha * alpha;
	float f90 = clamp(25.0 * max(max(f0.r, f0.g), f0.b), 0.0, 1.0);
	vec3 fresnel = f0 + (f90 - f0) * pow(1.0 - vh, 5.0);
	float d = (nh * a2 - nh) * nh + 1.0;
	float facets = a2 / (PI * d * d);
	float hidden = 4.0 * nl * nv / ((nl + sqrt(a2 + (1.0 - a2) * nl * nl)) * (nv + sqrt(a2 + (1.0 - a2) * nv * nv)));
	return nl * light * ((1.0 - fresnel) * diffuse / PI + fresnel * (hidden * facets / (4.0 * nl * nv)));
}

#ifdef NORMAL_MAP
// bumped turns n by the normal map. The tangents come from how place and texture coordinates change
// on the screen (Schüler 2013).
vec3 bumped(vec3 n) {
	vec3 px = dFdx(vPos), py = dFdy(vPos);
	vec2 cx = dFdx(vCoord), cy = dFdy(vCoord);
	vec3 rx = cross(py, n), ry = cross(n, px);
	vec3 u = rx * cx.x + ry * cy.x, v = rx * cx.y + ry * cy.y;
	float size = max(dot(u, u), dot(v, v));
	if (!(size > 0.0)) return n;
	vec3 t = 2.0 * texture(NormalMap, vCoord).xyz - 1.0;
	t.xy *= Roughness.z;
	return normalize((u * t.x - v * t.y) * inversesqrt(size) + n * t.z); // green is up, V goes down
}
#endif

void main() {
	vec4 base = BaseColor * vec4(vCoat.rgb, 1.0);
#ifdef BASE_MAP
	base *= texture(BaseMap, vCoord);
#endif
	if (base.a < Emissive.a) discard;
	normal = normalize(vNormal);
	if (!gl_FrontFacing) normal = -normal;
#ifdef NORMAL_MAP
	normal = bumped(normal);
#endif
	toEye = normalize(-vPos);
	float metal = Roughness.x, rough = Roughness.y;
#ifdef ROUGH_MAP
	vec4 rm = texture(RoughMap, vCoord);
	metal *= rm.b;
	rough *= rm.g;
#endif
	rough = clamp(rough, 0.04, 1.0);
	alpha = rough * rough;
	diffuse = base.rgb * 0.96 * (1.0 - metal);
	f0 = mix(vec3(0.04), base.rgb, metal);
	vec3 c = ambient() * diffuse + lights(vPos);
#ifdef EMISSIVE_MAP
	c += Emissive.rgb * texture(EmissiveMap, vCoord).rgb;
#else
	c += Emissive.rgb;
#endif
	FragColor = vec4(fogged(pow(clamp(c, 0.0, 1.0), vec3(1.0 / 2.2)), vPos), 1.0);
}
