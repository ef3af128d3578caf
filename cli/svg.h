/*
 * Charts as one SVG file that needs nothing else: two logarithmic axes, up to four lines with
 * quartile bars, vertical marks. Colours follow the viewer's light or dark setting; lines differ in
 * the shape of their points too. Labels have a place of their own each, so texts cannot overlap as
 * long as titles and names are short; what is too long for its place is cut with an ellipsis.
 */
#ifndef MLA_CLI_SVG_H
#define MLA_CLI_SVG_H

#include "analyzer/vec.h"

#include <stdio.h>

typedef struct {
	double x, y, low, high; /* y from low to high; a value of 0 or less cannot be drawn */
} mla_chart_point;

typedef struct {
	const char *name;
	MLA_VEC(mla_chart_point) points;
} mla_chart_series;

enum { MLA_CHART_SERIES = 4, MLA_CHART_MARKS = 2 };

typedef struct {
	char title[128], x_label[96], y_label[96];
	mla_chart_series series[MLA_CHART_SERIES];
	uint32_t n_series;
	struct {
		double x;
		char label[48];
	} mark[MLA_CHART_MARKS];
	uint32_t n_marks;
} mla_chart;

/* One below the other. A chart without a point that can be drawn says so. */
void mla_svg_write(FILE *to, const mla_chart *charts, uint32_t n);

#endif
