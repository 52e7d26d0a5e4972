// Bodies without materials, in the light of g3n's standard material, whose colours
// are those of the screen.
precision highp float;
#include <mannequin_lighting>
#include <mannequin_surface>
in vec3 vPos;
in vec3 vNormal;
out vec4 FragColor;

vec3 normal, toEye;
Surface s;

vec3 reflected(vec3 toLight, vec3 light) {
#if COVER == 2
	float soft = 0.0; // as g3n's materials
#else
	float soft = s.soft;
#endif
	float shine = max(dot(reflect(-toLight, normal), toEye), 0.0);
	shine *= shine; shine *= shine; shine *= shine; shine *= shine;
	float facing = max((dot(toLight, normal) + 0.5 * soft) / (1.0 + 0.5 * soft), 0.0);
	return light * (s.albedo * facing + (s.gloss + s.wet * shine * 0.7) * shine);
}

void main() {
	normal = normalize(vNormal);
	toEye = normalize(-vPos);
	s = surface(length(vPos));
	s.albedo = mix(12.92 * s.albedo, 1.055 * pow(max(s.albedo, 0.0), vec3(1.0 / 2.4)) - 0.055, step(0.0031308, s.albedo)); // sRGB
#if AMB_LIGHTS + DIR_LIGHTS + POINT_LIGHTS + SPOT_LIGHTS == 0
	vec3 c = s.albedo;
#else
	float edge = 1.0 - max(dot(normal, toEye), 0.0);
	vec3 c = ambient() * s.albedo + lights(vPos);
#if COVER != 2
	c += ambient() * s.albedo * (edge * edge * edge * s.rim);
#endif
#endif
	FragColor = vec4(fogged(min(c, 1.0), vPos), 1.0);
}
