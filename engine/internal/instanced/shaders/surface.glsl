// What a place on a character's body is made of, without any light. COVER is the body's cover.
#include <mannequin_noise>
#include <mannequin_dress>
in vec3 vBind;            // bind pose, where fur grows and cloth is woven
in vec4 vCoat;            // see body.Cover
flat in vec3 vTint;
flat in vec4 vVariation;  // 0…1 each

struct Surface {
	vec3 albedo; // linear
	float soft;  // 0…1: how far light goes on where the light sets
	float rim;   // light that the edge catches
	float gloss; // of hair, skin and eyes
	float wet;   // 0…1: nose and eyes of dogs
};

#if COVER == 0
// Fur: fine mottling that fades before it would shimmer. away is the distance from the eye.
Surface surface(float away) {
	float near = clamp(1.2 - away / 9.0, 0.0, 1.0);
	float fur = near > 0.0 ? (0.65 * noise(vBind * vec3(210.0, 120.0, 95.0)) + 0.35 * noise(vBind * vec3(60.0, 40.0, 30.0)) - 0.5) * near : 0.0;
	// Every dog has another share of white below, and of black on the back; some
	// have patches.
	float edge = vCoat.x + 0.35 * fur + 0.24 * (vVariation.x - 0.5);
	if (vVariation.y > 0.68) edge = max(edge, 1.9 * noise(vBind * 8.5 + 20.0 * vVariation.xyz) + 0.30 * fur - 0.78);
	vec3 light = mix(vTint, vec3(0.68, 0.63, 0.55), 0.82);
	vec3 albedo = mix(vTint, light, smoothstep(0.38, 0.62, edge));
	albedo = mix(albedo, albedo * 0.36, smoothstep(0.0, 0.45, vCoat.y + 0.15 * fur) * (0.45 + 0.55 * vVariation.z));
	float black = smoothstep(0.6, 0.8, vCoat.y);
	albedo = mix(albedo * (1.0 + 0.45 * fur), vec3(0.012), black);
	return Surface(albedo, 0.7 * (1.0 - black), 0.75 * (1.0 - black), 0.0, black);
}
#elif COVER == 1
// over returns how much of the pixel lies beyond the border at level.
float over(float channel, float level) {
	return clamp((channel - level) / max(fwidth(channel), 1e-4) + 0.5, 0.0, 1.0);
}

vec3 trousers(float variation) {
	if (variation < 0.30) return vec3(0.050, 0.075, 0.140);
	if (variation < 0.48) return vec3(0.034, 0.034, 0.038);
	if (variation < 0.66) return vec3(0.215, 0.165, 0.105);
	if (variation < 0.82) return vec3(0.140, 0.190, 0.260);
	return vec3(0.085, 0.090, 0.055);
}

// Clothes, of a weave that fades before it would shimmer, skin and hair.
Surface surface(float away) {
	float dark = vVariation.x * vVariation.x;
	vec3 skin = mix(vec3(0.68, 0.43, 0.30), vec3(0.17, 0.085, 0.050), dark);
	vec3 hair = mix(vec3(0.016, 0.012, 0.010), vec3(0.085, 0.042, 0.018), smoothstep(0.2, 0.6, vVariation.z));
	hair = mix(hair, vec3(0.36, 0.23, 0.10), smoothstep(0.62, 0.85, vVariation.z) * (1.0 - dark));
	hair = mix(hair, vec3(0.36, 0.35, 0.34), step(0.93, vVariation.z));
	vec3 leather = mix(vec3(0.035, 0.033, 0.034), mix(vec3(0.17, 0.085, 0.040), vec3(0.60, 0.60, 0.58), step(0.70, fract(vVariation.y * 9.0))), step(0.42, fract(vVariation.y * 9.0)));

	float near = clamp(1.2 - away / 6.0, 0.0, 1.0);
	float weave = near > 0.0 ? (noise(vBind * vec3(260.0, 320.0, 260.0)) - 0.5) * near : 0.0;
	float strands = near > 0.0 ? (noise(vBind * vec3(170.0, 35.0, 80.0)) - 0.5) * near : 0.0;
	float bare = max(over(vCoat.x, sleeve(vVariation)), shorts(vVariation) * over(vCoat.y, 1.27));
	float worn = over(vCoat.y, 0.5), shod = over(vCoat.z, 0.5);
	float furry = over(vCoat.w + 0.06 * strands, vCoat.w > 1.2 ? 0.5 : 0.5 + 0.10 * (vVariation.y - 0.4));
	vec3 albedo = mix(vTint, trousers(fract(vVariation.w * 3.0)), worn) * (1.0 + 0.16 * weave);
	albedo = mix(albedo, mix(skin, skin * vec3(0.78, 0.48, 0.47), clamp(vCoat.x - 1.0, 0.0, 1.0)) * (1.0 - 0.8 * clamp(vCoat.x - 2.0, 0.0, 1.0)), bare);
	albedo = mix(albedo, mix(leather, vec3(0.62, 0.60, 0.56), over(vCoat.z, 1.5)), shod);
	float iris = over(vCoat.w, 1.5);
	albedo = mix(albedo, mix(hair * (1.0 + 0.9 * strands), vec3(0.02, 0.014, 0.01), iris), furry);
	return Surface(albedo, 0.3 + 0.4 * bare, 0.55, 0.09 * furry * (1.0 + strands) + 0.05 * bare * (1.0 - furry) + 0.6 * iris, 0.0);
}
#else
Surface surface(float away) { return Surface(vCoat.rgb, 0.3, 0.40, 0.0, 0.0); }
#endif
