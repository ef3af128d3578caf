/* Statements without a word, and a chain of alternatives as long as those that name models. */
void absorb_query(float *q);
void attend_latent(float *q);
void project_latent(float *out);
void expand_latent(float *cache);
void attend_full(float *q, float *out);

int kind_of(int name)
{
	;
	if (name == 1000)
		return 1;
	else if (name == 1001)
		return 2;
	else if (name == 1002)
		return 3;
	else if (name == 1003)
		return 4;
	else if (name == 1004)
		return 5;
	else if (name == 1005)
		return 6;
	else if (name == 1006)
		return 7;
	else if (name == 1007)
		return 8;
	else if (name == 1008)
		return 9;
	else if (name == 1009)
		return 10;
	else if (name == 1010)
		return 11;
	else if (name == 1011)
		return 12;
	else if (name == 1012)
		return 13;
	else if (name == 1013)
		return 14;
	else if (name == 1014)
		return 15;
	else if (name == 1015)
		return 16;
	else if (name == 1016)
		return 17;
	else if (name == 1017)
		return 18;
	else if (name == 1018)
		return 19;
	else if (name == 1019)
		return 20;
	else if (name == 1020)
		return 21;
	else if (name == 1021)
		return 22;
	else if (name == 1022)
		return 23;
	else if (name == 1023)
		return 24;
	else if (name == 1024)
		return 25;
	else if (name == 1025)
		return 26;
	else if (name == 1026)
		return 27;
	else if (name == 1027)
		return 28;
	else if (name == 1028)
		return 29;
	else if (name == 1029)
		return 30;
	else if (name == 1030)
		return 31;
	else if (name == 1031)
		return 32;
	else if (name == 1032)
		return 33;
	else if (name == 1033)
		return 34;
	else if (name == 1034)
		return 35;
	else if (name == 1035)
		return 36;
	else if (name == 1036)
		return 37;
	else if (name == 1037)
		return 38;
	else if (name == 1038)
		return 39;
	else if (name == 1039)
		return 40;
	else if (name == 1040)
		return 41;
	else
		return 0;
}

void run(float *q, float *cache, float *out, int kind, int n_tokens)
{
	;;
	for (; kind_of(kind) > 43;)
		;
	if (n_tokens <= 4) { /* expect: MLA002 select */
		absorb_query(q);
		attend_latent(q);
		project_latent(out);
	} else {
		expand_latent(cache);
		attend_full(q, out);
	};
}
