#include "glue.h"

#include <stdlib.h>
#include <string.h>

// A thread has its text behind a pointer: a library that is loaded while a program runs has little room for variables of threads.
#ifdef _WIN32
#include <windows.h>
static DWORD key;
static void CALLBACK end(void* text) { free(text); }
__attribute__((constructor)) static void begin(void) { key = FlsAlloc(end); }
static void* get(void) { return FlsGetValue(key); }
static int set(void* text) { return FlsSetValue(key, text); }
#define EXPORT __declspec(dllexport)
#else
#include <pthread.h>
static pthread_key_t key;
__attribute__((constructor)) static void begin(void) { pthread_key_create(&key, free); }
static void* get(void) { return pthread_getspecific(key); }
static int set(void* text) { return pthread_setspecific(key, text) == 0; }
#define EXPORT __attribute__((visibility("default")))
#endif

enum { room = 4096 }; // texts with the stack of a panic are long

void mqSetLastError(const char* text, size_t length) {
	char* last = get();
	if (!last) {
		last = malloc(room);
		if (!last || !set(last)) {
			free(last);
			return;
		}
	}
	if (length >= room)
		length = room - 1;
	memcpy(last, text, length);
	last[length] = 0;
}

// In C, so that it changes nothing.
EXPORT int32_t mqGetLastError(char* text, int32_t capacity) {
	const char* last = get();
	if (!last)
		last = "";
	size_t length = strlen(last);
	if (text && capacity > 0) {
		size_t n = length < (size_t)capacity ? length : (size_t)capacity - 1;
		memcpy(text, last, n);
		text[n] = 0;
	}
	return (int32_t)length;
}

mqGroundHit mqCallGround(mqGroundFcn* ground, mqGroundQuery query, uintptr_t context) {
	mqGroundHit hit = { 0 };
	ground(&query, &hit, (void*)context);
	return hit;
}

void mqCallMove(mqMoveFcn* move, mqCrowdId crowd, mqMove* moves, int32_t count, uintptr_t context) {
	move(crowd, moves, count, (void*)context);
}
