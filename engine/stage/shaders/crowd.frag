#include <light>
#ifdef MATERIAL
#include <mannequin_material>
#endif
#include <mannequin_surface>
in vec3 vPos;
in vec3 vNormal;
out vec4 color;

void main() {
	vec3 n = normalize(vNormal);
	vec3 toEye = normalize(Eye - vPos);
	Surface s = surface(distance(Eye, vPos));
#ifdef MATERIAL
	s.albedo = baseColor(vCoat.rgb);
	if (!gl_FrontFacing) n = -n;
	n = bumped(n, vPos);
#endif
	vec3 c = lit(s.albedo, n, shadow(vPos, n), s.soft);
	float edge = 1.0 - max(dot(n, toEye), 0.0);
	c += s.albedo * SkyLight * (edge * edge * edge * s.rim * (0.6 + 0.4 * n.y));
	float shine = max(dot(n, normalize(SunDir + toEye)), 0.0);
	shine *= shine; shine *= shine; shine *= shine; shine *= shine;
	c += shine * s.gloss;
#if COVER == 0
	// The wet shine of nose and eyes: of the sun, and of the sky.
	float gleam = max(dot(n, normalize(vec3(0.0, 0.8, 0.0) + toEye)), 0.0);
	gleam *= gleam; gleam *= gleam; gleam *= gleam; gleam *= gleam; gleam *= gleam;
	c += s.wet * (shine * shine * vec3(0.7) + gleam * 0.35 * SkyLight);
#endif
#ifdef MATERIAL
	c += emission();
	color = vec4(present(c, vPos), opacity);
#else
	color = vec4(present(c, vPos), 1.0);
#endif
}
