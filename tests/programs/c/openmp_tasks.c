// OpenMP: tasks with taskwait, taskgroup, dependences, loops of tasks, tasks of tasks, and loops whose rounds wait for others.
// flags: -fopenmp -O1
// needs: omp.h
#include <omp.h>
#include <stdio.h>

enum { N = 64, THREADS = 4, ROUNDS = 30 };

static int cells[N], sums[N], chain, grid[N];

static int fibonacci(int n) {
    int x, y;
    if (n < 2) {
        return n;
    }
#pragma omp task shared(x) firstprivate(n)
    x = fibonacci(n - 1);
#pragma omp task shared(y) firstprivate(n)
    y = fibonacci(n - 2);
#pragma omp taskwait
    return x + y;
}

static void leaf(int i) {
#pragma omp task firstprivate(i)
    sums[i] = cells[i] + 1;
}

static int round_of(int round) {
    int total = 0;
#pragma omp parallel num_threads(THREADS) shared(total)
#pragma omp single
    {
        for (int i = 0; i < N; i++) {
#pragma omp task firstprivate(i)
            cells[i] = i + round;
        }
#pragma omp taskwait
        // A group waits for tasks of tasks.
#pragma omp taskgroup
        for (int i = 0; i < N; i++) {
#pragma omp task firstprivate(i)
            leaf(i);
        }
        for (int i = 0; i < N; i++) {
            total += sums[i];
        }
        chain = 0;
        for (int i = 0; i < 8; i++) {
#pragma omp task depend(inout : chain)
            chain++;
#pragma omp task depend(in : chain) firstprivate(i) depend(out : cells[i])
            cells[i] = chain;
        }
#pragma omp task depend(in : cells[7]) shared(total)
        total += cells[7];
#pragma omp taskwait
#pragma omp taskloop grainsize(8)
        for (int i = 0; i < N; i++) {
            sums[i] += chain;
        }
        total += sums[N - 1] + fibonacci(10);
    }
    // Rounds that wait for the one before.
    grid[0] = 1;
#pragma omp parallel for ordered(1) schedule(static, 1) num_threads(THREADS)
    for (int i = 1; i < N; i++) {
#pragma omp ordered depend(sink : i - 1)
        grid[i] = grid[i - 1] + 1;
#pragma omp ordered depend(source)
    }
    return total + grid[N - 1];
}

int main(void) {
    long sum = 0;
    for (int round = 0; round < ROUNDS; round++) {
        sum += round_of(round);
    }
    printf("%ld\n", sum);
}
