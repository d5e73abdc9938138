// SPDX-License-Identifier: GPL-2.0-only
/*
 * A computation on every processor, to see what is left of it while others work there.
 *
 *   bench_ionode SECONDS STEP_US    a barrier of all processors after each STEP_US of work; 0: none
 *
 * Prints steps a second (of a millisecond's work each if there are no barriers), the mean of all
 * processors.  The length of a step is measured first, so start it when nothing else runs and keep
 * the figure that it prints for runs beside others: bench_ionode SECONDS STEP_US LOOPS.
 */
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define MAX_CPUS 256

static pthread_barrier_t barrier;
static atomic_bool over;
static bool ending; /* written by one between two barriers, read by all after the second */
static uint64_t loops;
static int with_barriers;
static uint64_t steps[MAX_CPUS];

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec + ts.tv_nsec / 1e9;
}

static double spin(uint64_t n)
{
	volatile double x = 1;
	uint64_t i;

	for (i = 0; i < n; i++)
		x = x * 0.999 + 0.001;
	return x;
}

/* Loops of a step, from the fastest of some tries. */
static uint64_t measure(double seconds)
{
	double best = 1e9, t;
	int i;

	for (i = 0; i < 20; i++) {
		t = now();
		spin(1000000);
		t = now() - t;
		best = t < best ? t : best;
	}
	return (uint64_t)(seconds / best * 1e6);
}

static void *compute(void *arg)
{
	uint32_t cpu = (uint32_t)(uintptr_t)arg;
	bool last = false;
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		perror("bench_ionode: affinity");
	while (!last) {
		spin(loops);
		steps[cpu]++;
		if (with_barriers) {
			if (pthread_barrier_wait(&barrier) == PTHREAD_BARRIER_SERIAL_THREAD)
				ending = atomic_load(&over);
			pthread_barrier_wait(&barrier);
			last = ending;
		} else {
			last = atomic_load(&over);
		}
	}
	return NULL;
}

int main(int argc, char **argv)
{
	double seconds = argc > 2 ? atof(argv[1]) : 0, step = argc > 2 ? atof(argv[2]) : -1, began;
	long i, n = sysconf(_SC_NPROCESSORS_ONLN);
	pthread_t thread[MAX_CPUS];
	uint64_t sum = 0;

	if (!(seconds > 0) || step < 0 || n < 1 || n > MAX_CPUS) {
		fprintf(stderr, "usage: bench_ionode SECONDS STEP_US [LOOPS]\n");
		return 2;
	}
	with_barriers = step > 0;
	loops = argc > 3 ? strtoull(argv[3], NULL, 10) : measure((step > 0 ? step : 1000) / 1e6);
	pthread_barrier_init(&barrier, NULL, (unsigned int)n);
	began = now();
	for (i = 0; i < n; i++)
		if (pthread_create(&thread[i], NULL, compute, (void *)(uintptr_t)i))
			return 1;
	usleep((useconds_t)(seconds * 1e6));
	atomic_store(&over, true);
	for (i = 0; i < n; i++)
		pthread_join(thread[i], NULL);
	seconds = now() - began;
	for (i = 0; i < n; i++)
		sum += steps[i];
	printf("%ld processors, %llu loops a step: %.1f steps a second\n", n,
	       (unsigned long long)loops, (double)sum / (double)n / seconds);
	return 0;
}
