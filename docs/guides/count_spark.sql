WITH domain AS (SELECT * FROM VALUES ('red', 0), ('green', 1), ('blue', 2) AS d(value, place)),
seen AS (SELECT trim(color) AS value, trim(who) AS person FROM visits),
good AS (SELECT value, place, person FROM seen JOIN domain USING (value) WHERE person <> ''),
chosen AS (
  SELECT person, min_by(place, sha2(concat('0', chr(31), person, chr(31), value), 256)) AS place
  FROM good GROUP BY person
),
counted AS (
  SELECT d.place, d.value, count(c.person) AS users
  FROM domain AS d LEFT JOIN chosen AS c ON d.place = c.place GROUP BY d.place, d.value
),
ordered AS (SELECT sort_array(collect_list(struct(place, value, users))) AS all FROM counted)
SELECT to_json(named_struct(
  'kind', 'frequency', 'per_user', 'random',
  'values', transform(all, one -> one.value), 'counts', transform(all, one -> one.users),
  'rows', (SELECT count(*) FROM seen),
  'left_out', (SELECT count(*) FROM seen) - (SELECT count(*) FROM good),
  'dropped', (SELECT count(*) FROM good) - (SELECT count(*) FROM chosen),
  'users', (SELECT count(*) FROM chosen)
)) FROM ordered;
