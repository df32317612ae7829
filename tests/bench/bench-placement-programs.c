/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Writes N clusters of 10 devices to a folder, as data of placement-ring.mod and placement-star.mod, and what
 * the placement solvers say of each as a line of JSON: null where there is no solution. */
#include <glib.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "placement/solve.h"
#include "tests/bench/placement-cases.h"
#include "tests/unit/placement/solution-cost.h"

static FILE *create(const char *folder, const char *kind, uint32_t number)
{
        g_autofree char *path = g_strdup_printf("%s/%s-%u.dat", folder, kind, number);
        FILE *file = fopen(path, "we");

        if (!file)
                g_error("%s cannot be created", path);
        return file;
}

static void finish(FILE *file)
{
        fprintf(file, "end;\n");
        if (fclose(file) != 0)
                g_error("A program cannot be written");
}

static void write_limits(FILE *file, const AldPlacementProblem *problem)
{
        fprintf(file, "data;\nparam n := %u;\nparam layers := %u;\nparam devices_max := %u;\n",
                problem->n_devices, problem->layers,
                problem->devices_max > 0 ? problem->devices_max : problem->n_devices);
}

static void write_device(FILE *file, const AldPlacementProblem *problem, uint32_t i)
{
        const AldPlacementDevice *device = &problem->devices[i];

        fprintf(file, "%u %d %.17g %u", i + 1, device->required, device->layer_nsec / 1e6,
                device->layers_max);
}

static double closing_ms(const AldPlacementProblem *problem, uint32_t last, uint32_t first)
{
        bool otherwise = problem->ends && problem->closing_nsec;

        return (otherwise ? problem->closing_nsec : problem->hop_nsec)[last * problem->n_devices + first] /
               1e6;
}

static void write_ring(FILE *file, const AldPlacementProblem *problem)
{
        uint32_t n = problem->n_devices;

        write_limits(file, problem);
        fprintf(file, "param has_ends := %d;\n", problem->ends != NULL);
        fprintf(file, "param : required layer_ms room first_ms last_ms room_first room_last room_both :=\n");
        for (uint32_t i = 0; i < n; i++) {
                uint32_t most = problem->devices[i].layers_max;
                const AldPlacementEnds none = { 0, 0, most, most, most },
                                       *ends = problem->ends ? &problem->ends[i] : &none;

                write_device(file, problem, i);
                fprintf(file, " %.17g %.17g %u %u %u\n", ends->first_nsec / 1e6, ends->last_nsec / 1e6,
                        MIN(most, ends->layers_max_first), MIN(most, ends->layers_max_last),
                        MIN(most, ends->layers_max_both));
        }
        fprintf(file, ";\nparam : HOPS : hop_ms closing_ms :=\n");
        for (uint32_t i = 0; i < n; i++)
                for (uint32_t j = 0; j < n; j++)
                        if (i != j && problem->hop_nsec[i * n + j] < INFINITY)
                                fprintf(file, "%u %u %.17g %.17g\n", i + 1, j + 1,
                                        problem->hop_nsec[i * n + j] / 1e6, closing_ms(problem, i, j));
        fprintf(file, ";\n");
}

static void write_star(FILE *file, const AldPlacementProblem *problem, const PlacementStar *star)
{
        write_limits(file, problem);
        fprintf(file, "param : required layer_ms room last_ms room_last :=\n");
        for (uint32_t i = 0; i < problem->n_devices; i++) {
                write_device(file, problem, i);
                fprintf(file, " %.17g %u\n", star->last_nsec ? star->last_nsec[i] / 1e6 : 0,
                        star->last_nsec ? star->last_layers_max[i] : problem->devices[i].layers_max);
        }
        fprintf(file, ";\nparam : REACHED : use_ms :=\n");
        for (uint32_t i = 0; i < problem->n_devices; i++)
                if (star->use_nsec[i] < INFINITY)
                        fprintf(file, "%u %.17g\n", i + 1, star->use_nsec[i] / 1e6);
        fprintf(file, ";\n");
}

static void print_ms(const char *name, int r, const AldPlacementSolution *solution)
{
        if (r < 0)
                printf("\"%s\": null, ", name);
        else
                printf("\"%s\": %.17g, ", name, solution->nsec / 1e6);
}

static void print_solutions(const PlacementCase *made)
{
        AldPlacementSolution ring = { 0 }, star = { 0 };
        double lower;
        int r = ald_placement_solve(&made->problem, &ring, &lower);

        printf("{");
        print_ms("ring", r, &ring);
        print_ms("star", placement_solve_star(&made->problem, &made->star, &star), &star);
        printf("\"hops_percent\": %.1f}\n", r < 0 ? 0 : placement_hops_percent(&made->problem, &ring));
        ald_placement_solution_clear(&ring);
        ald_placement_solution_clear(&star);
}

int main(int argc, char **argv)
{
        uint32_t n = argc == 3 ? (uint32_t) atoi(argv[2]) : 0;

        if (n == 0)
                g_error("Usage: %s FOLDER N", argv[0]);
        for (uint32_t i = 0; i < n; i++) {
                PlacementCase made;
                FILE *file;

                placement_case_make(&made, PLACEMENT_CASE_DEVICES_MAX, i);
                file = create(argv[1], "ring", i);
                write_ring(file, &made.problem);
                finish(file);
                file = create(argv[1], "star", i);
                write_star(file, &made.problem, &made.star);
                finish(file);
                print_solutions(&made);
        }
        return 0;
}
