COPY (
  WITH domain AS (SELECT * FROM (VALUES ('red', 0), ('green', 1), ('blue', 2)) AS d(value, place)),
  seen AS (SELECT trim(color) AS value, trim(who) AS person FROM visits),
  good AS (SELECT value, place, person FROM seen JOIN domain USING (value) WHERE person <> ''),
  chosen AS (
    SELECT person, min_by(place, sha256('0' || chr(31) || person || chr(31) || value)) AS place
    FROM good GROUP BY person
  ),
  counted AS (
    SELECT d.place, d.value, count(c.person) AS users
    FROM domain AS d LEFT JOIN chosen AS c ON d.place = c.place GROUP BY d.place, d.value
  )
  SELECT
    'frequency' AS kind, 'random' AS per_user,
    list(value ORDER BY place) AS "values", list(users ORDER BY place) AS counts,
    (SELECT count(*) FROM seen) AS "rows",
    (SELECT count(*) FROM seen) - (SELECT count(*) FROM good) AS left_out,
    (SELECT count(*) FROM good) - (SELECT count(*) FROM chosen) AS dropped,
    (SELECT count(*) FROM chosen) AS users
  FROM counted
) TO 'part.json' (FORMAT json);
