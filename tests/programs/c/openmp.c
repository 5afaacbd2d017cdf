// OpenMP: regions, loops, barriers, single, sections, ordered, reductions and what is private to threads.
// flags: -fopenmp -O1
// needs: omp.h
#include <omp.h>
#include <stdio.h>

enum { N = 1000, THREADS = 4, ROUNDS = 20 };

static int a[N], b[N], order[N], placed;
static int scratch;
#pragma omp threadprivate(scratch)

static long loops(void) {
    long sum = 0;
    int most = 0;
#pragma omp parallel num_threads(THREADS)
    {
#pragma omp for
        for (int i = 0; i < N; i++) {
            a[i] = i;
        }
#pragma omp for schedule(dynamic, 7) reduction(+ : sum) reduction(max : most)
        for (int i = 0; i < N; i++) {
            b[i] = a[N - 1 - i];
            sum += b[i];
            most = most < b[i] ? b[i] : most;
        }
#pragma omp single
        a[0] = most;
#pragma omp for schedule(guided) nowait
        for (int i = 1; i < N; i++) {
            a[i] = b[i] + a[0];
        }
    }
    return sum + most + a[N - 1];
}

static int turns(void) {
    int chosen = 0, total = 0;
    placed = 0;
#pragma omp parallel num_threads(THREADS) reduction(+ : total)
    {
        int mine;
#pragma omp single copyprivate(mine)
        mine = 42;
        scratch = mine;
#pragma omp master
        chosen = mine;
#pragma omp barrier
        total += chosen + scratch;
#pragma omp sections
        {
#pragma omp section
            a[1] = 1;
#pragma omp section
            b[1] = 2;
        }
        total += a[1] + b[1];
#pragma omp barrier
#pragma omp for ordered
        for (int i = 0; i < N; i++) {
#pragma omp ordered
            order[placed++] = i;
        }
    }
    for (int i = 0; i < N; i++) {
        if (order[i] != i) {
            return -1;
        }
    }
    return total;
}

static int nested(void) {
    int parts[THREADS] = {0};
#pragma omp parallel num_threads(2) shared(parts)
    {
        int outer = omp_get_thread_num();
#pragma omp parallel num_threads(2) shared(parts, outer)
        parts[outer * 2 + omp_get_thread_num()] = outer + 1;
        parts[outer * 2] += parts[outer * 2 + 1];
    }
    return parts[0] + parts[2];
}

int main(void) {
    omp_set_max_active_levels(2);
    omp_set_dynamic(0);
    long sum = 0;
    for (int round = 0; round < ROUNDS; round++) {
        sum += loops() + turns() + (nested() > 0);
    }
    printf("%ld\n", sum);
}
