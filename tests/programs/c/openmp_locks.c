// OpenMP: critical sections, locks, locks that are taken again, and atomics with flushes.
// flags: -fopenmp -O1
// needs: omp.h
#include <omp.h>
#include <stdio.h>

enum { TIMES = 300, THREADS = 4 };

static int named, unnamed, locked, nested, tried, box, full;

int main(void) {
    omp_lock_t lock;
    omp_nest_lock_t nest;
    omp_init_lock(&lock);
    omp_init_nest_lock(&nest);
#pragma omp parallel num_threads(THREADS)
    {
        for (int i = 0; i < TIMES; i++) {
#pragma omp critical(name)
            named++;
#pragma omp critical
            unnamed++;
            omp_set_lock(&lock);
            locked++;
            omp_unset_lock(&lock);
            omp_set_nest_lock(&nest);
            nested++;
            omp_set_nest_lock(&nest);
            nested++;
            omp_unset_nest_lock(&nest);
            nested++;
            omp_unset_nest_lock(&nest);
            while (!omp_test_lock(&lock)) {
            }
            tried++;
            omp_unset_lock(&lock);
        }
#pragma omp barrier
        // A message with a flag, ordered by flushes.
        if (omp_get_thread_num() == 0) {
            box = 42;
#pragma omp flush
#pragma omp atomic write
            full = 1;
        } else if (omp_get_thread_num() == 1) {
            int seen = 0;
            while (!seen) {
#pragma omp atomic read
                seen = full;
            }
#pragma omp flush
            box++;
        }
    }
    omp_destroy_lock(&lock);
    omp_destroy_nest_lock(&nest);
    printf("%d %d %d %d %d %d\n", named, unnamed, locked, nested, tried, box);
}
