// Bodies with materials, in the light of g3n's physical material: a microfacet surface as
// glTF 2.0, appendix B, describes it, after Walter et al. 2007 and Schlick 1994.
precision highp float;
#include <mannequin_lighting>
#include <mannequin_material>
in vec3 vPos;
in vec3 vNormal;
in vec3 vBind;
in vec4 vCoat;
flat in vec3 vTint;
flat in vec4 vVariation;
out vec4 FragColor;

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

void main() {
	vec3 base = baseColor(vCoat.rgb);
	normal = normalize(vNormal);
	if (!gl_FrontFacing) normal = -normal;
	normal = bumped(normal, vPos);
	toEye = normalize(-vPos);
	vec2 mr = metalRough();
	alpha = mr.y * mr.y;
	diffuse = base * 0.96 * (1.0 - mr.x);
	f0 = mix(vec3(0.04), base, mr.x);
	vec3 c = ambient() * diffuse + lights(vPos) + emission();
	FragColor = vec4(fogged(pow(clamp(c, 0.0, 1.0), vec3(1.0 / 2.2)), vPos), opacity);
}
