-- Roles of the database with the least rights that each needs. The first start of the database runs
-- this file. The page docs/scale.md explains the roles.
CREATE ROLE cordelia_owner LOGIN;
CREATE ROLE cordelia_writer LOGIN;
CREATE ROLE cordelia_reader LOGIN;
ALTER DATABASE cordelia OWNER TO cordelia_owner;
ALTER DEFAULT PRIVILEGES FOR ROLE cordelia_owner GRANT USAGE ON SCHEMAS TO cordelia_writer, cordelia_reader;
ALTER DEFAULT PRIVILEGES FOR ROLE cordelia_owner GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO cordelia_writer;
ALTER DEFAULT PRIVILEGES FOR ROLE cordelia_owner GRANT SELECT ON TABLES TO cordelia_reader;
DO $$ DECLARE lock regprocedure; BEGIN -- all writes wait for such a lock, which any role may take
  FOR lock IN SELECT oid FROM pg_proc WHERE proname ~ '^pg_(try_)?advisory_' LOOP
    EXECUTE format('REVOKE EXECUTE ON FUNCTION %s FROM PUBLIC', lock);
    EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO cordelia_owner, cordelia_writer', lock);
  END LOOP;
END $$;

\set owner `cat /run/secrets/owner.password`
\set writer `cat /run/secrets/writer.password`
\set reader `cat /run/secrets/reader.password`
ALTER ROLE cordelia_owner PASSWORD :'owner';
ALTER ROLE cordelia_writer PASSWORD :'writer';
ALTER ROLE cordelia_reader PASSWORD :'reader';
